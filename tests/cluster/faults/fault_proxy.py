"""A proxy before the API server that lets a test meddle with single requests: delay, refuse, lose or forge answers."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import urllib3
import yaml

from tests.cluster.plane.kubeconfig import read_kubeconfig
from tests.loopback_server import PromptAnswers

HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive", "host")


class Asked(NamedTuple):
    """One request as it came. ``number`` counts from 0."""

    number: int
    method: str
    path: str
    body: bytes

    @property
    def is_eviction(self) -> bool:
        """Whether it asks for an eviction in earnest."""
        return self.path.endswith("/eviction")  # a dry run has a query

    @property
    def is_watch(self) -> bool:
        """Whether the answer goes on: it is passed on as it comes."""
        return self.method == "GET" and "watch=1" in self.path.partition("?")[2].split("&")

    @property
    def is_write(self) -> bool:
        """Whether it may change something."""
        return self.method not in ("GET", "HEAD") and "dryRun" not in self.path


class Answered(NamedTuple):
    """An answer, true or forged; ``is_lost``: the connection is reset in its place; ``stream``: of a watch, which goes
    on, in place of the body."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    is_lost: bool = False
    stream: urllib3.BaseHTTPResponse | None = None


LOST = Answered(0, is_lost=True)
Forward = Callable[[], Answered]
Meddler = Callable[[Asked, Forward], Answered]


def _honest(_: Asked, forward: Forward) -> Answered:
    return forward()


class FaultProxy:
    """Serves plain HTTP on loopback and speaks to the API server as the user of a kubeconfig.

    ``meddle`` answers every request; it may forward it, before or after whatever it does, or not at all.
    """

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        access = read_kubeconfig(kubeconfig)
        assert access.identity is not None
        self.meddle: Meddler = _honest
        self.asked: list[Asked] = []
        self._upstream = access.server
        self._lock = threading.Lock()
        self._pool = urllib3.PoolManager(
            maxsize=16,
            ca_certs=str(access.authority),
            cert_file=str(access.identity.certificate),
            key_file=str(access.identity.key),
            timeout=urllib3.Timeout(connect=5.0, read=60.0),
            retries=False,
        )
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign] # a client that was killed is no news
        self.kubeconfig = _kubeconfig(folder / "proxied.yaml", f"http://127.0.0.1:{self.server.server_port}")

    def answer(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answered:
        """Let the test's meddler answer one request."""
        with self._lock:
            asked = Asked(len(self.asked), method, path, body)
            self.asked.append(asked)

        def forward() -> Answered:
            kept = {name: value for name, value in headers.items() if name.lower() not in HOP_BY_HOP}
            found = self._pool.request(
                method, self._upstream + path, body=body or None, headers=kept, preload_content=not asked.is_watch
            )
            told = tuple((name, value) for name, value in found.headers.items() if name.lower() not in HOP_BY_HOP)
            if asked.is_watch:
                return Answered(found.status, b"", told, stream=found)
            return Answered(found.status, found.data, told)

        try:
            return self.meddle(asked, forward)
        except urllib3.exceptions.HTTPError:  # the API server itself is down
            return LOST

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(PromptAnswers, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                answer = proxy.answer(self.command, self.path, body, dict(self.headers.items()))
                with suppress(OSError):
                    _send(self, answer)

        for method in ("POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", Handler.do_GET)
        return Handler


@contextmanager
def fault_proxy(kubeconfig: Path, folder: Path) -> Iterator[FaultProxy]:
    """A proxy that serves until the block ends."""
    proxy = FaultProxy(kubeconfig, folder)
    thread = threading.Thread(target=proxy.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.server.shutdown()
        proxy.server.server_close()


def overloaded() -> Answered:
    """What API priority and fairness answers: plain text, and when to come back."""
    headers = (("Content-Type", "text/plain"), ("Retry-After", "1"))
    return Answered(429, b"Too many requests, please try again later.\n", headers)


def _send(handler: BaseHTTPRequestHandler, answer: Answered) -> None:
    if answer.is_lost:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True
        return
    handler.send_response(answer.status)
    for name, value in answer.headers:
        handler.send_header(name, value)
    if answer.stream is not None:
        _pass_on(handler, answer.stream)
        return
    handler.send_header("Content-Length", str(len(answer.body)))
    handler.end_headers()
    handler.wfile.write(answer.body)


def _pass_on(handler: BaseHTTPRequestHandler, stream: urllib3.BaseHTTPResponse) -> None:
    """Send on what comes, as it comes; where that breaks off, so does this."""
    handler.close_connection = True
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    try:
        for part in stream.stream(decode_content=False):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        handler.wfile.write(b"0\r\n\r\n")
    except urllib3.exceptions.HTTPError:
        return
    finally:
        stream.close()


def _kubeconfig(path: Path, server: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "proxied", "cluster": {"server": server}}],
        "users": [{"name": "proxied", "user": {}}],
        "contexts": [{"name": "proxied", "context": {"cluster": "proxied", "user": "proxied"}}],
        "current-context": "proxied",
    }
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path
