"""What stands between a browser and a daemon's page: it adds the token, which a browser cannot send by itself.

A page of any other site can make a browser send requests here. So nothing is done without a header that only our own
page knows: its script gets it for a secret that stands behind the # of the printed address, once. No cookie is set, and
no token ever reaches the browser.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections.abc import Collection, Mapping
from typing import Final, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rescheduler.daemon.api.page_routes import page_headers
from rescheduler.daemon.api.refusals import HTML, JSON, RefusedError
from rescheduler.daemon.page.outlook import ALLOWED_HEADER
from rescheduler.extension_points import ClusterError
from rescheduler.model.printable import printable
from rescheduler.report.html.daemon_page import shell_page

SECRET_HEADER: Final = "x-rescheduler-secret"  # noqa: S105 - the name of a header
KEY_HEADER: Final = "x-rescheduler-key"
LARGEST_BODY: Final = 65536
WRITES: Final[Mapping[str, re.Pattern[str]]] = {
    "approve": re.compile(r"/v1/plans/[^/?#]+/approve"),
    "pause": re.compile(r"/v1/(pause|resume)"),
}
"""What ``--allow`` names; nothing else is ever sent but GET."""
_READS: Final = re.compile(r"/|/v1/[^#]*|/openapi\.json")
_PASSED_ON: Final = ("accept", "content-type", "if-match", "idempotency-key")


class Answered(Protocol):
    """What a daemon answers."""

    @property
    def status(self) -> int:
        """As HTTP has it."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Those that are passed on."""

    @property
    def body(self) -> bytes:
        """Whole."""


class DaemonBehind(Protocol):
    """A daemon, asked with a token."""

    def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Answered:
        """The answer to one request. Raises ClusterError."""


class LocalProxy:
    """An application for one person on this machine. ``secret``: what the printed address ends with."""

    def __init__(self, upstream: DaemonBehind, allowed: Collection[str] = ()) -> None:
        """``allowed``: names of ``WRITES``."""
        self.secret = secrets.token_urlsafe(32)
        self.hosts: frozenset[str] = frozenset()
        self._key = secrets.token_urlsafe(32)
        self._upstream = upstream
        self._allowed = tuple(sorted(allowed))
        self._lock = threading.Lock()
        self._is_used = False

    def serve_as(self, port: int) -> None:
        """By which names it may be called: those of this machine, at this port."""
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            answer = await self._answer(Request(scope, receive))
        except RefusedError as refused:
            answer = refused.response()
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        self._require_ours(request)
        path = request.scope["raw_path"].decode("latin-1")
        if request.method == "POST" and path == "/session":
            return self._session(request)
        if not _is_same(request.headers.get(KEY_HEADER, ""), self._key):
            if request.method == "GET" and path == "/" and KEY_HEADER not in request.headers:
                return Response(shell_page("rescheduler"), headers=page_headers(), media_type=HTML)
            raise RefusedError(403, "open the address that rescheduler ui has printed")
        self._require_allowed(request.method, path)
        return await self._passed_on(request, path)

    def _require_ours(self, request: Request) -> None:
        """Called by our own name, and not by a page of another site."""
        hosts, origins = request.headers.getlist("host"), request.headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise RefusedError(403, "called by a host name that is not this machine's")
        wanted = f"http://{hosts[0]}".lower()
        if any(origin.lower() != wanted for origin in origins) or (request.method != "GET" and not origins):
            raise RefusedError(403, "pages of other sites may not ask here")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise RefusedError(403, "pages of other sites may not ask here")

    def _session(self, request: Request) -> Response:
        """The key for the secret, once."""
        if not _is_same(request.headers.get(SECRET_HEADER, ""), self.secret):
            raise RefusedError(403, "this is not the address that rescheduler ui has printed")
        with self._lock:
            was_used, self._is_used = self._is_used, True
        if was_used:
            raise RefusedError(403, "this address was opened before; run rescheduler ui again for another one")
        return Response(f'{{"key": "{self._key}"}}', headers={"Cache-Control": "no-store"}, media_type=JSON)

    def _require_allowed(self, method: str, path: str) -> None:
        if method == "GET" and _READS.fullmatch(path):
            return
        if method == "POST" and any(WRITES[name].fullmatch(path) for name in self._allowed):
            return
        wanted = next((name for name, pattern in WRITES.items() if pattern.fullmatch(path)), "")
        hint = f"; run rescheduler ui with --allow {wanted}" if method == "POST" and wanted else ""
        raise RefusedError(403, f"rescheduler ui only reads{hint}")

    async def _passed_on(self, request: Request, path: str) -> Response:
        query = request.scope["query_string"].decode("latin-1")
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        headers[ALLOWED_HEADER] = ",".join(self._allowed)
        body = await _body(request) if request.method == "POST" else None
        target = f"{path}?{query}" if query else path
        try:
            found = await run_in_threadpool(self._upstream.ask, request.method, target, headers, body)
        except ClusterError as error:
            raise RefusedError(503, printable(str(error), 500)) from None
        own = {**page_headers(), **found.headers}
        return Response(found.body, found.status, own)


async def _body(request: Request) -> bytes:
    found = bytearray()
    try:
        async for part in request.stream():
            found += part
            if len(found) > LARGEST_BODY:
                raise RefusedError(413, f"wanted a body of {LARGEST_BODY} bytes at most")
    except ClientDisconnect:
        raise RefusedError(400, "the body was cut off") from None
    return bytes(found)


def _is_same(shown: str, wanted: str) -> bool:
    return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), wanted.encode())
