"""HTTP between the product's own adapters and the simulated API server: faults are what comes over the line, as bytes.

Everything above it is the real thing: the connection with its patience, what its errors mean, the reading of answers.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from email.utils import formatdate
from http.client import RemoteDisconnected
from random import Random
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import urllib3.exceptions as failures

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.credentials import Endpoint
from tests.soak.line.faults import Fault
from tests.soak.line.wire import HttpAnswer, Struck, Wire
from tests.soak.trace import Request

SERVER: Final = "https://simulated"
ACCOUNT: Final = SimpleNamespace(get_api_key_with_prefix=lambda *_, **__: "Bearer of-a-simulation")
PAGE: Final = b"<html><body>Bad gateway</body></html>"
CUT: Final = b'{"mess'
BUDGET: Final = {"reason": "DisruptionBudget", "message": "The disruption budget needs more pods than it has"}
BY_STATUS: Final = {404: "Gone", 409: "Conflict", 429: "TooManyRequests"}


class HttpRequest(NamedTuple):
    """One as it was handed to the transport."""

    method: str
    path: str
    params: Mapping[str, str]
    body: Any


class HttpCall(NamedTuple):
    """``site``: see ``faults``; ``request``: for the trace; ``act``: what the server does and says."""

    site: str
    request: Request
    act: Callable[[], HttpAnswer]


class WirePool:
    """Stands where urllib3's pool manager stands. ``route`` says which call a request is."""

    def __init__(self, wire: Wire, route: Callable[[HttpRequest], HttpCall]) -> None:
        self._wire = wire
        self._route = route

    def request(self, method: str, url: str, *, body: bytes | None = None, **_: Any) -> Any:
        """Send, and wait until the answer begins."""
        parts = urlsplit(url)
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        found = HttpRequest(method, parts.path, params, json.loads(body) if body else None)
        call = self._route(found)
        try:
            answer = self._wire.call(call.site, call.request, call.act)
        except Struck as struck:
            if isinstance(struck.told, Exception):
                raise struck.told from None
            answer = struck.told or HttpAnswer(500, PAGE)
        return WireResponse(answer, self._wire.clock.now())


class WireResponse:
    """What has begun to come; its body may end too early."""

    def __init__(self, answer: HttpAnswer, now: float) -> None:
        self.status = answer.status
        self.headers = {"Date": formatdate(now, usegmt=True), **answer.headers}
        self._answer = answer

    @property
    def data(self) -> bytes:
        """The body."""
        if self._answer.breaks_off is not None:
            raise self._answer.breaks_off
        return self._answer.body


def connection_of(wire: Wire, route: Callable[[HttpRequest], HttpCall]) -> Connection:
    """A connection of the product whose bytes cross the wire."""
    wire.told_by = told_by
    endpoint = Endpoint(SERVER, "simulated", ACCOUNT, WirePool(wire, route))
    return Connection(lambda: endpoint, read_only=False, sleep=wire.clock.sleep)


def status(code: int, message: str, *, meaning: str = "", causes: Any = (), retry_after: str = "") -> HttpAnswer:
    """A Status of the API server; ``meaning``: what a client that understands it knows, by default from its code."""
    found = {"kind": "Status", "status": "Failure", "code": code, "message": message, "details": {"causes": causes}}
    headers = {"Retry-After": retry_after} if retry_after else {}
    known = meaning or ("Failed" if code >= 500 or code == 408 else BY_STATUS.get(code, "Forbidden"))
    return HttpAnswer(code, json.dumps(found).encode(), headers, known)


def told_by(random: Random, fault: Fault) -> HttpAnswer | Exception:
    """What comes over the line in place of the server's own answer. An exception: no answer begins at all."""
    kind = fault.kind
    if kind == "unreachable":
        return random.choice(UNREACHABLE)()
    if kind == "429 of a budget":
        wait = random.choice(("", "10"))
        meaning = "BudgetNotObserved" if wait else "BudgetExhausted"
        return status(429, "Cannot evict pod", meaning=meaning, causes=[BUDGET], retry_after=wait)
    if kind == "429 of overload":
        return HttpAnswer(429, b"Too many requests, please try again later.", {"Retry-After": "1"}, "TooManyRequests")
    if kind == "webhook":
        return status(random.choice((400, 403, 418, 451, 500)), "admission webhook says no")
    if kind == "refused":
        return HttpAnswer(fault.status, b"<html>no</html>", {}, BY_STATUS.get(fault.status, "Forbidden"))
    if "timeout" in kind or kind == "slow":
        return failures.ReadTimeoutError(None, SERVER, "Read timed out.")  # type: ignore[arg-type]
    if kind == "garbled":
        return random.choice(GARBLED)()
    if "5xx" in kind:
        return HttpAnswer(random.choice((500, 502, 503, 504)), random.choice((CUT, PAGE)), {}, "Failed")
    return random.choice(RESETS)()


def _reset() -> Exception:
    error = ConnectionResetError(104, "Connection reset by peer")
    return failures.ProtocolError("Connection aborted.", error)


UNREACHABLE: Final[tuple[Callable[[], Exception], ...]] = (
    lambda: failures.NewConnectionError(None, "Connection refused"),  # type: ignore[arg-type]
    lambda: failures.NameResolutionError("simulated", None, OSError(-2, "Name not known")),  # type: ignore[arg-type]
    lambda: failures.ConnectTimeoutError(None, "Connection timed out."),
)
"""No connection was made."""
RESETS: Final[tuple[Callable[[], Exception], ...]] = (
    _reset,
    lambda: failures.ProtocolError("Connection aborted.", RemoteDisconnected("no answer")),
    lambda: failures.SSLError(ssl.SSLEOFError(8, "EOF occurred in violation of protocol")),
    lambda: failures.SSLError(ssl.SSLError(1, "[SSL] record layer failure")),
    lambda: failures.ProxyError("Unable to connect to proxy", _reset()),
)
"""The connection was made, and broke before an answer began."""
GARBLED: Final[tuple[Callable[[], HttpAnswer], ...]] = (
    lambda: HttpAnswer(502, PAGE, {}, "Failed"),
    lambda: HttpAnswer(200, CUT, {}, "Failed", failures.IncompleteRead(6, 1000)),
    lambda: HttpAnswer(201, CUT, {}, "Failed", failures.SSLError(ssl.SSLError(1, "[SSL] decryption failed"))),
    lambda: HttpAnswer(201, b"\x1f\x8b\x08", {}, "Failed", failures.DecodeError("not a gzipped body")),
)
"""An answer begins, and cannot be read."""
