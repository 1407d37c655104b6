"""Who may ask the server: this machine, or who shows a token or a certificate."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rescheduler.extension_points import ReschedulerError
from rescheduler.policy.fields.daemon.api import ServerTls
from rescheduler.policy.fields.metrics_access import Tls
from rescheduler.policy.fields.usage import WatcherApi
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/watcher/health"})
"""Answered without a token: kubelets ask them, and they tell nothing but that we live."""
LARGEST_BODY: Final = 16384
LARGEST_HEAD: Final = 16384
LONGEST_TARGET: Final = 8192
"""Bytes; the longest name of a node has 253."""
ReadToken = Callable[[], str]
"""Gives the token that clients must send, read anew each time; raises ReschedulerError."""


def require_protection(api: WatcherApi, address: str, host: str) -> None:
    """Raise PolicyError for an address that others can reach without a token or a client certificate.

    ``host``: the numeric address that it stands for.
    """
    is_mutual = api.tls is not None and api.tls.ca_file is not None
    if is_loopback(host) or api.bearer_token is not None or is_mutual:
        return
    text = (
        f"{address} can be reached from elsewhere, and whoever reaches it could read the cluster's load; write "
        "bearerToken.file, or tls with certFile, keyFile and caFile (clients then show a certificate), or listen on "
        "127.0.0.1"
    )
    raise PolicyError([ReadingProblem("", 0, 0, "usage.api", text)])


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_tls_files(tls: Tls | ServerTls | None, field: str = "usage.api.tls") -> None:
    """Raise PolicyError for TLS without our certificate, or with files that cannot be used."""
    if tls is None:
        return
    if tls.cert_file is None or tls.key_file is None:
        text = "missing; write certFile and keyFile: a server shows a certificate"
        raise PolicyError([ReadingProblem("", 0, 0, field, text)])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    place = f"certFile {tls.cert_file}, keyFile {tls.key_file}"
    try:
        context.load_cert_chain(tls.cert_file, tls.key_file, password=lambda: "")
        if tls.ca_file is not None:
            place = f"caFile {tls.ca_file}"
            context.load_verify_locations(tls.ca_file)
    except (OSError, ValueError) as error:
        text = f"{place}: cannot be used: {getattr(error, 'strerror', None) or error}; wanted PEM files"
        raise PolicyError([ReadingProblem("", 0, 0, field, text)]) from None


@dataclass(frozen=True)
class Protection:
    """Stands before the application: asks for the token, refuses large bodies, answers HEAD as GET without a body."""

    app: ASGIApp
    read_token: ReadToken | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = dict(scope["headers"])
        refusal = _size_refusal(scope, headers) or self._token_refusal(scope["path"], headers)
        if refusal is not None:
            return await refusal(scope, receive, send)
        if scope["method"] != "HEAD":
            return await self.app(scope, receive, send)
        return await self.app({**scope, "method": "GET"}, receive, without_body(send))

    def _token_refusal(self, path: str, headers: dict[bytes, bytes]) -> PlainTextResponse | None:
        if self.read_token is None or path in OPEN_PATHS:
            return None
        try:
            wanted = self.read_token()
        except ReschedulerError:
            return plain_text(503, "the token to compare with cannot be read; see the server's messages")
        kind, _, found = headers.get(b"authorization", b"").partition(b" ")
        is_right = hmac.compare_digest(found.strip(), wanted.encode())
        if kind.lower() == b"bearer" and is_right and wanted:
            return None
        text = "wanted the header Authorization: Bearer TOKEN with the right token"
        return plain_text(401, text, {"WWW-Authenticate": "Bearer"})


def _size_refusal(scope: Scope, headers: dict[bytes, bytes]) -> PlainTextResponse | None:
    """What is too large to be meant for us; the connection ends with it."""
    end = {"Connection": "close"}
    if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_TARGET:
        return plain_text(414, f"wanted an address of {LONGEST_TARGET} bytes at most", end)
    if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEAD:
        return plain_text(431, f"wanted headers of {LARGEST_HEAD} bytes at most", end)
    length = headers.get(b"content-length", b"0")
    if b"transfer-encoding" in headers or not length.isdigit() or len(length) > 9 or int(length) > LARGEST_BODY:
        return plain_text(413, "no body is read here; send none", end)
    return None


def plain_text(status: int, text: str, headers: dict[str, str] | None = None) -> PlainTextResponse:
    """An answer for people."""
    return PlainTextResponse(text + "\n", status, {"X-Content-Type-Options": "nosniff", **(headers or {})})


def without_body(send: Send) -> Send:
    """Sends the head of an answer alone, as HEAD wants it."""

    async def send_head(message: object) -> None:
        if isinstance(message, dict) and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)  # type: ignore[arg-type]

    return send_head
