"""A small HTTP server on loopback that answers as a test says, badly too."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

RESET = "reset"
SILENT = "silent"
DRIPPING = "dripping"
CUT_OFF = "cut off"


class PromptAnswers:
    """What every request handler of a test begins with: kept connections, nothing held back, no log."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer's body waits 40 ms for the word that its headers have come

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


class Request(NamedTuple):
    """One request as it came. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def route(self) -> str:
        """The path without its query."""
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        """The parameters in the URL, the first of each name."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form in the body, the first of each name."""
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


class Answer(NamedTuple):
    """What to answer. ``fault``: RESET, SILENT, DRIPPING (a byte now and then, for ever) or CUT_OFF, in its place."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {"Content-Type": "application/json"}
    fault: str = ""


def json_answer(data: Any, status: int = 200) -> Answer:
    """An answer of JSON."""
    return Answer(msgspec.json.encode(data), status)


@dataclass
class LoopbackServer:
    """Its address, and every request that it got."""

    address: str
    requests: list[Request] = field(default_factory=list)


@contextmanager
def loopback_server(answer: Callable[[Request], Answer]) -> Iterator[LoopbackServer]:
    """Serve until the block ends."""
    closing = threading.Event()

    class Handler(PromptAnswers, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, body)
            served.requests.append(request)
            with suppress(OSError):  # the client may have gone
                _send(self, answer(request), closing)

        def do_POST(self) -> None:
            self.do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # a client that hangs up is no news
    served = LoopbackServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _send(handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
    if answer.fault in (RESET, SILENT):
        handler.close_connection = True
        if answer.fault == SILENT:
            closing.wait(30)
            return
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        return
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    length = len(answer.body) if not answer.fault else max(1000, 2 * len(answer.body))
    handler.send_header("Content-Length", str(length))
    handler.end_headers()
    handler.wfile.write(answer.body[: length // 2] if answer.fault else answer.body)
    if answer.fault:
        handler.close_connection = True
    while answer.fault == DRIPPING and not closing.wait(0.05):
        handler.wfile.write(b" ")
