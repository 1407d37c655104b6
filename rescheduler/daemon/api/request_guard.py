"""Stands before the daemon's API: sizes, who calls by which name, whose token, how often; rights come later."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from anyio import CapacityLimiter, to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from rescheduler.daemon.api.refusals import CLOSE, HTML, JSON, PAGE_PATH, RefusedError
from rescheduler.daemon.serving.call_names import CallNames
from rescheduler.daemon.serving.protection import without_body
from rescheduler.extension_points import AccessReviewer, Clock, ClusterError
from rescheduler.model.daemon.account import Account
from rescheduler.model.printable import printable

# How often one client may ask: a bucket of requests for each, refilled at a steady rate.

PER_SECOND: Final = 20.0
MOST_CLIENTS: Final = 4096


class RateLimit:
    """Safe to use from many threads; of too many clients those that have been quiet the longest are forgotten."""

    def __init__(self, clock: Clock, per_second: float = PER_SECOND, burst: float | None = None) -> None:
        """``burst``: requests at once; by default those of one second."""
        self._clock = clock
        self.per_second = per_second
        self._burst = per_second if burst is None else burst
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> bool:
        """Count one request; False if it is one too many."""
        with self._lock:
            left, now = self._left(client)
            is_allowed = left >= 1.0
            self._buckets.pop(client, None)
            self._buckets[client] = (left - 1.0 if is_allowed else left, now)
            if len(self._buckets) > MOST_CLIENTS:
                del self._buckets[next(iter(self._buckets))]
            return is_allowed

    def has_room(self, client: str) -> bool:
        """Whether a request would be allowed; counts nothing."""
        with self._lock:
            return self._left(client)[0] >= 1.0

    def _left(self, client: str) -> tuple[float, float]:
        now = self._clock.monotonic()
        left, since = self._buckets.get(client, (self._burst, now))
        return min(self._burst, left + (now - since) * self.per_second), now


LARGEST_HEAD: Final = 16384
LONGEST_TARGET: Final = 16384
LONGEST_TOKEN: Final = 16384
MOST_REVIEWS: Final = 8
"""Questions to the cluster at one time."""
_RETRY: Final = {"Retry-After": "1"}
_SECRETS: Final = re.compile(r"(?i).*(token|bearer|authorization|jwt|password|secret).*")
_JWT: Final = re.compile(r"eyJ[-_a-zA-Z0-9]+\.")
_TOKEN: Final = re.compile(rb"(?i:bearer) +([-._~+/a-zA-Z0-9]+=*) *")


@dataclass(frozen=True)
class RequestGuard:
    """Hands requests on with ``state["account"]``, whose account it is.

    ``calls``: how often each account may ask; ``failures``: how often each address may show tokens that are none.
    ``tell`` hears of faults of ours.
    """

    app: ASGIApp
    names: CallNames
    reviewer: AccessReviewer
    calls: RateLimit
    failures: RateLimit
    limiter: CapacityLimiter
    tell: Callable[[str], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on; HEAD is GET without a body."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        is_head = scope["method"] == "HEAD"
        send = without_body(send) if is_head else send
        try:
            account = await self._accepted(scope)
        except RefusedError as refused:
            return await refused.response()(scope, receive, send)
        state = {**scope.get("state", {}), "account": account}
        method = "GET" if is_head else scope["method"]
        try:
            return await self.app({**scope, "method": method, "state": state}, receive, send)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client is told, and the server lives on
            self.tell(f"{method} {printable(scope['path'], 200)}: {type(error).__name__}: {printable(str(error), 300)}")
            text = f"a fault of rescheduler's own ({type(error).__name__}); please report it"
            return await RefusedError(500, text, CLOSE).response()(scope, receive, send)

    async def _accepted(self, scope: Scope) -> Account:
        """Whose request it is. Raises RefusedError."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        _require_small(scope, headers)
        self.names.require(scope, headers)
        _require_no_token_in(scope["query_string"])
        token = _token_of(headers)
        _require_wanted(scope, headers)
        account = await self._account_of(token, (scope.get("client") or ("",))[0])
        if not self.calls.take(account.name):
            raise RefusedError(429, f"more than {self.calls.per_second:g} requests in a second", _RETRY)
        return account

    async def _account_of(self, token: str, client: str) -> Account:
        if not self.failures.has_room(client):
            raise RefusedError(429, "too many tokens that are not accepted", _RETRY)
        try:
            account = await to_thread.run_sync(self.reviewer.account_of, token, limiter=self.limiter)
        except ClusterError:
            raise RefusedError(503, "authentication unavailable", {"Retry-After": "5"}) from None
        if account is None:
            self.failures.take(client)
            raise unauthorized()
        return account


def unauthorized() -> RefusedError:
    """Tells nothing about what was wrong."""
    return RefusedError(401, "wanted the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})


def _token_of(headers: list[tuple[bytes, bytes]]) -> str:
    shown = [value for name, value in headers if name == b"authorization"]
    found = _TOKEN.fullmatch(shown[0]) if len(shown) == 1 and len(shown[0]) <= LONGEST_TOKEN else None
    if found is None:
        raise unauthorized()
    return found.group(1).decode("ascii")


def _require_small(scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
    if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_TARGET:
        raise RefusedError(414, f"wanted an address of {LONGEST_TARGET} bytes at most", CLOSE)
    if sum(len(name) + len(value) for name, value in headers if name != b"authorization") > LARGEST_HEAD:
        raise RefusedError(431, f"wanted headers of {LARGEST_HEAD} bytes at most", CLOSE)


def _require_no_token_in(query: bytes) -> None:
    """Addresses end in logs of proxies and in histories; a token that stood there has to be given up."""
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=None):
        if _SECRETS.fullmatch(name) or _JWT.search(value) or _JWT.search(name):
            raise RefusedError(400, "a token stands in the address, where it may be logged; send it as a header")


def _require_wanted(scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
    """The page is HTML, all else JSON."""
    answered = HTML if scope["path"] == PAGE_PATH and scope["method"] in ("GET", "HEAD") else JSON
    shown = b",".join(value for name, value in headers if name == b"accept").decode("latin-1")
    wanted = [part.replace(" ", "").lower() for part in shown.split(",") if part.strip()]
    kinds = [part.partition(";")[0] for part in wanted if not re.search(r";q=0(\.0*)?(;|$)", part)]
    if wanted and not {answered, f"{answered.partition('/')[0]}/*", "*/*", "*"} & set(kinds):
        raise RefusedError(406, f"only {answered} is answered here")
