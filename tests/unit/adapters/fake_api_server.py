"""An API server of canned answers on loopback, which remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.loopback_server import PromptAnswers


class Request(NamedTuple):
    """One request as it arrived."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What to answer. ``announced``: a Content-Length other than the true one, to break off in the middle."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = MappingProxyType({})
    announced: int | None = None


def status(code: int, message: str) -> Answer:
    """A Kubernetes Status."""
    return Answer(code, json.dumps({"kind": "Status", "status": "Failure", "message": message, "code": code}).encode())


def answer(data: Any) -> Answer:
    """Data as JSON."""
    return Answer(200, json.dumps(data).encode())


class FakeApiServer:
    """Answers by ``handle``; ``requests`` holds everything that came in."""

    def __init__(self, handle: Callable[[Request], Answer]) -> None:
        """``handle`` is called in the server's threads."""
        self.handle = handle
        self.requests: list[Request] = []
        self.port = 0

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def kubeconfig(self, folder: Path, *, token: str = "secret-token") -> str:
        """A kubeconfig for it with contexts ``one`` (current) and ``two``, and its token in a file."""
        (folder / "token").write_text(token)
        path = folder / "config"
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "c", "cluster": {"server": self.url}}],
                    "users": [{"name": "u", "user": {"tokenFile": str(folder / "token")}}],
                    "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("one", "two")],
                    "current-context": "one",
                }
            )
        )
        return str(path)


@contextmanager
def serving(handle: Callable[[Request], Answer]) -> Iterator[FakeApiServer]:
    """Run a server for the length of a ``with`` block."""
    fake = FakeApiServer(handle)

    class Handler(PromptAnswers, BaseHTTPRequestHandler):
        def _serve(self) -> None:
            split = urlsplit(self.path)
            params = {key: values[0] for key, values in parse_qs(split.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, split.path, params, headers, self.rfile.read(length))
            fake.requests.append(request)
            found = fake.handle(request)
            self.send_response_only(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.body) if found.announced is None else found.announced))
            self.end_headers()
            self.wfile.write(found.body)
            if found.announced is not None:
                self.close_connection = True

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _serve  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.port = server.server_port
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
