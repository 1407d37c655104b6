"""What to tell people when a provider cannot be asked over HTTP: never with credentials, never with a URL's query."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import msgspec
from requests import exceptions
from urllib3.exceptions import NameResolutionError

from rescheduler.adapters.metrics.http.bounded_adapter import TooLongError, TotalTimeError
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable


class HttpStatusError(MetricsError):
    """An answer that is not 2xx: ``status``, and its ``body`` for providers that explain themselves in it."""

    def __init__(self, message: str, status: int, body: bytes) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class NoAnswerInTimeError(MetricsError):
    """The whole answer did not come in time; a smaller question may be answered."""


def shown_address(address: str) -> str:
    """Scheme, host, port and path alone."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return printable(f"{parts.scheme}://{host}{parts.path}", 300)


def failure(error: Exception, seconds: float, most_bytes: int) -> str:
    """Words for a request that got no answer."""
    if isinstance(error, TotalTimeError | exceptions.Timeout):
        return f"gave no whole answer within {seconds:g} s"
    if isinstance(error, TooLongError):
        return f"answered more than {most_bytes // 2**20} MiB; the answer was given up"
    causes = list(_chain(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            said = getattr(cause, "verify_message", "") or cause.reason or "handshake failed"
            return f"offers no TLS connection that can be trusted ({printable(str(said), 200)}); check tls.caFile"
        if isinstance(cause, NameResolutionError):
            return "cannot be reached: its name is not known here"
    if isinstance(error, exceptions.ChunkedEncodingError | exceptions.ContentDecodingError):
        return "broke off its answer, or garbled it"
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return f"cannot be reached: {printable(cause.strerror, 200)}"
    if isinstance(error, exceptions.ConnectionError):
        return "broke off the connection"
    if isinstance(error, OSError) and not isinstance(error, exceptions.RequestException):
        return f"cannot be asked: {printable(str(error), 300)}"
    return f"cannot be asked ({type(error).__name__})"


def refusal(status: int, body: bytes) -> str:
    """Words for an answer that is not 2xx, with the server's own."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "unknown status"
    advice = {
        401: "; check bearerToken or basicAuth",
        403: "; check what the credentials are allowed to read",
        404: "; check the address and its path",
    }.get(status, "")
    return f"answered {status} {phrase}{_said(body)}{advice}"


def _said(body: bytes) -> str:
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = body[:200].decode("utf-8", "replace").strip()
    if isinstance(found, dict):
        texts = [found[key] for key in ("error", "message", "errors", "reason") if isinstance(found.get(key), str)]
        found = texts[0] if texts else ""
    return f": {printable(found, 300)}" if isinstance(found, str) and found else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what lies behind it, outermost first."""
    pending: list[Any] = [error]
    seen: set[int] = set()
    while pending:
        one = pending.pop(0)
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        pending += [*one.args, getattr(one, "reason", None), one.__cause__, one.__context__]
