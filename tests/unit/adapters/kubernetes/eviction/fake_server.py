"""A connection whose answers are scripted, and which remembers what was asked of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.kubernetes.client.failures import refusal


class Request(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Any
    params: Mapping[str, str]


class FakeServer:
    """Answers by method and path; what has no answer is 404."""

    server = "https://test"
    server_time: float | None = None

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._answers: dict[tuple[str, str], list[Any]] = {}

    def answer(self, method: str, path: str, *answers: Any) -> None:
        """Give answers in turn, the last one for ever: a Response, an error to raise, data for 200, or a function."""
        self._answers[method, path] = list(answers)

    def get(self, path: str, params: Mapping[str, str] | None = None, headers: Any = None) -> bytes:
        """As Connection.get."""
        found = self._next(Request("GET", path, None, params or {}))
        if found.status >= 300:
            raise refusal(self.server, "test", "GET", path, found.status, found.body)
        return found.body

    def pages(self, path: str, limit: int = 500, params: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """As Connection.pages, one page."""
        yield self.get(path, params)

    def send(
        self, method: str, path: str, body: Any = None, *, params: Mapping[str, str] | None = None,
        content_type: str = "application/json", timeout: Any = None,
    ) -> Response:  # fmt: skip
        """As Connection.send."""
        return self._next(Request(method, path, body, params or {}))

    def asked(self, method: str) -> list[Request]:
        """Requests of one method."""
        return [request for request in self.requests if request.method == method]

    def _next(self, request: Request) -> Response:
        self.requests.append(request)
        answers = self._answers.get((request.method, request.path))
        if not answers:
            return Response(404, {}, b'{"kind":"Status","message":"not found"}')
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(found):
            found = found(request)
        if isinstance(found, BaseException):
            raise found
        return found if isinstance(found, Response) else Response(200, {}, json.dumps(found).encode())


def status(code: int, message: str = "", *, cause: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """An error as the API server writes it."""
    details = {"causes": [{"reason": cause, "message": f"because of {cause}"}]} if cause else {}
    return Response(
        code, headers or {}, json.dumps({"kind": "Status", "message": message, "details": details}).encode()
    )
