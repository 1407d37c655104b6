"""A proxy before a real Prometheus that breaks its answers in every way that a test asks for."""

from __future__ import annotations

import json
import socket
import struct
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.loopback_server import PromptAnswers

Row = dict[str, Any]


class Exchange(NamedTuple):
    """One query and the honest answer to it."""

    query: str
    answer: bytes

    @property
    def is_about_time(self) -> bool:
        """Whether it asks when values were measured, not what they are."""
        return "timestamp(" in self.query


class Proxy:
    """``now``: when every instant query is evaluated, so that tests choose the time; ``fault``: what to do to answers.

    ``queries`` counts those that arrived.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.address = ""
        self.now: float | None = None
        self.fault: Fault = honest
        self.queries = 0
        self.closing = threading.Event()

    def ask(self, path: str, body: bytes) -> Exchange:
        """The honest answer."""
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if self.now is not None and path.endswith("/query"):
            form["time"] = f"{self.now:.3f}"
        request = urllib.request.Request(self.upstream + path, urllib.parse.urlencode(form).encode())
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return Exchange(form.get("query", ""), answer.read())
        except urllib.error.HTTPError as error:
            return Exchange(form.get("query", ""), error.read())


class Handler(PromptAnswers, BaseHTTPRequestHandler):
    """One connection of a client."""

    proxy: Proxy

    def do_POST(self) -> None:
        """Ask upstream, then let the fault answer."""
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.proxy.queries += 1
        self.proxy.fault(self, self.proxy.ask(self.path, body))

    def begin(self, length: int, status: int = 200) -> None:
        """Send the head of an answer."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def answer(self, body: bytes, status: int = 200) -> None:
        """Send a whole answer."""
        self.begin(len(body), status)
        self.wfile.write(body)


Fault = Callable[[Handler, Exchange], None]


def honest(handler: Handler, exchange: Exchange) -> None:
    """What Prometheus said."""
    handler.answer(exchange.answer)


def silence(handler: Handler, exchange: Exchange) -> None:
    """Nothing at all until the client gives up."""
    handler.proxy.closing.wait(20)
    handler.close_connection = True


def reset(handler: Handler, exchange: Exchange) -> None:
    """The connection is torn down."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def internal_error(handler: Handler, exchange: Exchange) -> None:
    """500, with words."""
    handler.answer(b'{"status": "error", "errorType": "internal", "error": "the disk is gone"}', 500)


def html_page(handler: Handler, exchange: Exchange) -> None:
    """What a proxy says whose back end is gone, with status 200."""
    handler.answer(b"<html><body>Bad gateway</body></html>")


def truncated(handler: Handler, exchange: Exchange) -> None:
    """Half of the body, then the connection ends."""
    handler.begin(len(exchange.answer))
    handler.wfile.write(exchange.answer[: len(exchange.answer) // 2])
    handler.close_connection = True


def cut_json(handler: Handler, exchange: Exchange) -> None:
    """Half of the body, as if it were the whole."""
    handler.answer(exchange.answer[: len(exchange.answer) // 2])


def slow_bytes(handler: Handler, exchange: Exchange) -> None:
    """One byte after the other: never silent, never done."""
    handler.begin(len(exchange.answer))
    for byte in exchange.answer:
        if handler.proxy.closing.wait(0.05):
            break
        try:
            handler.wfile.write(bytes([byte]))
        except OSError:
            break
    handler.close_connection = True


def partial(handler: Handler, exchange: Exchange) -> None:
    """All that one store has, and a warning that others did not answer."""
    document = json.loads(exchange.answer)
    handler.answer(json.dumps({**document, "warnings": ["store 10.0.0.7 did not answer"]}).encode())


def rows(change: Callable[[Exchange, list[Row]], list[Row]]) -> Fault:
    """A fault that changes the series of every answer."""

    def fault(handler: Handler, exchange: Exchange) -> None:
        document = json.loads(exchange.answer)
        if document.get("status") == "success":
            document["data"]["result"] = change(exchange, document["data"]["result"])
        handler.answer(json.dumps(document).encode())

    return fault


empty_vectors = rows(lambda _, __: [])
"""200, success, and no series."""


def lies(change: Callable[[str, float], Any], *, about_time: bool = False) -> Fault:
    """A fault that changes values by instance: those that were measured, or the times when they were."""

    def changed(row: Row, pair: list[Any]) -> list[Any]:
        return [pair[0], str(change(row["metric"].get("instance", ""), float(pair[1])))]

    def change_rows(exchange: Exchange, found: list[Row]) -> list[Row]:
        if exchange.is_about_time is not about_time:
            return found
        for row in found:
            if "value" in row:
                row["value"] = changed(row, row["value"])
            else:
                row["values"] = [changed(row, pair) for pair in row["values"]]
        return found

    return rows(change_rows)


def without(*instances: str) -> Fault:
    """Answers that lack some nodes."""
    return rows(lambda _, found: [row for row in found if row["metric"].get("instance") not in instances])


def doubled(instance: str, factor: float) -> Fault:
    """A second series for one node, with another value: an exporter's twin."""

    def change(exchange: Exchange, found: list[Row]) -> list[Row]:
        twins: list[Row] = []
        for row in found:
            if row["metric"].get("instance") == instance and "value" in row:
                at, value = row["value"]
                other = float(value) * (1 if exchange.is_about_time else factor)
                twins.append({"metric": {**row["metric"], "job": "twin"}, "value": [at, str(other)]})
        return found + twins

    return rows(change)


class Repeats:
    """Answers each query as it was answered at first; ``keeps_time``: the times too, else only the values."""

    def __init__(self, *, keeps_time: bool) -> None:
        self._keeps_time = keeps_time
        self._known: dict[str, bytes] = {}

    def __call__(self, handler: Handler, exchange: Exchange) -> None:
        """Answer."""
        if exchange.is_about_time and not self._keeps_time:
            handler.answer(exchange.answer)
        else:
            handler.answer(self._known.setdefault(exchange.query, exchange.answer))


@contextmanager
def fault_proxy(upstream: str) -> Iterator[Proxy]:
    """A proxy on loopback, honest at first."""
    proxy = Proxy(upstream)
    fields: Mapping[str, Any] = {"proxy": proxy}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), dict(fields)))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    proxy.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield proxy
    finally:
        proxy.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
