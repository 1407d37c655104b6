"""What the daemon's API says when it does not do what is asked: one form of document for every status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.responses import Response

from rescheduler.model.plan.plan import API_VERSION
from rescheduler.model.printable import printable
from rescheduler.report.documents import to_json

REASONS: Final = {
    400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed",
    406: "NotAcceptable", 408: "Timeout", 409: "Conflict", 412: "PreconditionFailed", 413: "TooLarge",
    414: "AddressTooLong", 415: "UnsupportedMediaType", 422: "Invalid", 429: "TooManyRequests",
    431: "HeadersTooLarge", 500: "InternalError", 503: "Unavailable",
}  # fmt: skip
JSON: Final = "application/json"
HTML: Final = "text/html"
PAGE_PATH: Final = "/"
"""Where the page is; everything else is JSON."""
LONGEST_MESSAGE: Final = 2000
CLOSE: Final = {"Connection": "close"}


class Details(msgspec.Struct, rename="camel", omit_defaults=True):
    """What a program can act on. ``path``: of a wrong field; ``until``: when it may end; ``leader``: who leads."""

    path: str = ""
    until: str | None = None
    leader: str = ""
    newer_plan: str = ""


class Error(msgspec.Struct, rename="camel"):
    """Why it was not done. ``status``: that of the answer; ``reason``: a word for it."""

    status: int
    reason: str
    message: str
    details: Details = msgspec.field(default_factory=Details)
    api_version: str = API_VERSION
    kind: str = "Error"


class RefusedError(Exception):
    """Ends a request with this status."""

    def __init__(
        self, status: int, message: str, headers: Mapping[str, str] | None = None, details: Details | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        self.details = details or Details()

    def response(self) -> Response:
        """The answer."""
        text = printable(str(self), LONGEST_MESSAGE)
        return answer(Error(self.status, REASONS[self.status], text, self.details), self.status, self.headers)


def answer(document: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A document as JSON, in which nothing can play with a terminal; nobody is to keep it."""
    own = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    return Response(to_json(document), status, {**own, **(headers or {})}, media_type=JSON)
