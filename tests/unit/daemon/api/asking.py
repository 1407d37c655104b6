"""Asks an application without a network, byte by byte as a server would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from starlette.types import ASGIApp

from rescheduler.daemon.load_watcher.app import create_app
from tests.clocks import FakeClock
from tests.unit.daemon.api.records import SetSource


class Answer(NamedTuple):
    """One answer: status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def type(self) -> str:
        """Its content type, "" where there is none."""
        return self.headers.get("content-type", "")

    @property
    def json(self) -> Any:
        """Its body, decoded."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """Its body as text."""
        return self.body.decode()


def ask(
    app: ASGIApp,
    target: str,
    method: str = "GET",
    headers: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
    body: Sequence[bytes] = (b"",),
) -> Answer:
    """The answer to one request; ``target``: path and query as they stand in the request line; ``body``: its parts."""
    path, _, query = target.partition("?")
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    given = [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs]
    parts_to_come = list(body)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": given,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2020),
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        part = parts_to_come.pop(0) if parts_to_come else b""
        return {"type": "http.request", "body": part, "more_body": bool(parts_to_come)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start, *parts = sent
    found = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(part.get("body", b"") for part in parts))


def asked(source: SetSource, target: str, *, clock: FakeClock | None = None, **request: Any) -> Answer:
    """What an application over this source answers."""
    return ask(create_app(source, clock or FakeClock(), interval=15.0), target, **request)
