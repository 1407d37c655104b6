"""Raw requests to the API server: the official client's authentication and transport, our own decoding."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.answers import EndingStreams, LineStream, continue_token
from rescheduler.adapters.kubernetes.client.credentials import Endpoint, load_endpoint
from rescheduler.adapters.kubernetes.client.failures import (
    OutcomeUnknownError,
    ServerBusyError,
    WriteRefusedError,
    refusal,
)
from rescheduler.adapters.kubernetes.client.requests import begin_request, server_date, wait_seconds
from rescheduler.adapters.kubernetes.client.traffic import Traffic
from rescheduler.adapters.kubernetes.client.transport_failures import transport_failures
from rescheduler.extension_points import ClusterError
from rescheduler.model.printable import shortened

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0
PAGE_SIZE: Final = 500
_READS: Final = ("GET", "HEAD")
_REVIEWS: Final = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")
"""Questions that are asked by POST; nothing is stored."""
_BUSY: Final = (429, 502, 503, 504)
_ATTEMPTS: Final = 4
_LONGEST_FAILURE: Final = 65536


class Response(NamedTuple):
    """An answer of the API server, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def connect(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    read_only: bool,
    allow_dry_run_evictions: bool = False,
    traffic: Traffic | None = None,
    may_write: Callable[[], str | None] = lambda: None,
) -> Connection:
    """Open a connection as kubectl would. Sends nothing yet. Raises ClusterError.

    ``read_only`` refuses every write before it is sent; ``allow_dry_run_evictions`` lets evictions with
    ``dryRun=All`` through. ``traffic`` limits and records requests. ``may_write``: see Connection.
    """
    return Connection(
        lambda: load_endpoint(kubeconfig, context),
        read_only=read_only,
        allow_dry_run_evictions=allow_dry_run_evictions,
        traffic=traffic,
        may_write=may_write,
    )


class Connection:
    """One API server. Safe to use from several threads, not across a fork.

    ``server_time``: the server's own clock at its last answer, seconds since the epoch.
    """

    def __init__(
        self,
        load: Callable[[], Endpoint],
        *,
        read_only: bool,
        allow_dry_run_evictions: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        traffic: Traffic | None = None,
        may_write: Callable[[], str | None] = lambda: None,
    ) -> None:
        """``load`` reads the credentials; it is called again when the server stops accepting them.

        ``may_write`` is asked right before each write is sent, dry runs included, and says why it may not be.
        """
        self._load = load
        self._endpoint = load()
        self._read_only = read_only
        self._allow_dry_run_evictions = allow_dry_run_evictions
        self._sleep = sleep
        self._traffic = traffic or Traffic()
        self._may_write = may_write
        self._ending = EndingStreams()
        self.server_time: float | None = None

    @property
    def server(self) -> str:
        """The server's address."""
        return self._endpoint.server

    @property
    def has_token(self) -> bool:
        """Whether we show a token, as service accounts do, rather than a client certificate."""
        return bool(self._endpoint.authorization())

    def without_credentials(self, text: str) -> str:
        """The text with ``***`` for the token that we send, should a server have repeated it."""
        token = (self._endpoint.authorization() or "").rpartition(" ")[2]
        return text.replace(token, "***") if token else text

    def load_credentials(self) -> None:
        """Read afresh how to prove who we are. Raises ClusterError."""
        self._endpoint = self._load()

    def get(
        self, path: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """The body of a successful GET. Raises ClusterError (NotServedError on 404, PagesExpiredError on 410).

        Waits and asks again while the server says that it is busy; reads the credentials afresh on the first 401.
        """
        response = self._patiently(path, params, headers)
        if response.status == 401:
            self.load_credentials()
            response = self._patiently(path, params, headers)
        if not 200 <= response.status < 300:
            raise refusal(self.server, self._endpoint.name, "GET", path, response.status, response.body)
        if response.body.lstrip()[:1] not in (b"{", b"["):
            found = shortened(response.body[:80].decode("utf-8", "replace"))
            raise ClusterError(f"{self.server} answered GET {path} with something that is not JSON: {found!r}")
        return response.body

    def pages(self, path: str, limit: int = PAGE_SIZE, params: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """The pages of one consistent list. Raises PagesExpiredError when the list must be started again.

        While the caller looks at one page the next is on its way.
        """
        asked = {**(params or {}), "limit": str(limit)}
        body = self.get(path, asked)
        while token := continue_token(body):
            ahead = in_background(partial(self.get, path, {**asked, "continue": token}), "next-page")
            yield body
            body = ahead.result()
        yield body

    def stream(self, path: str, params: Mapping[str, str], *, read_timeout: float) -> LineStream:
        """The lines of an answer that goes on, from where it begins; close it when done.

        ``read_timeout``: seconds of silence after which the iteration fails. Raises as ``get`` does, but
        ServerBusyError at once where the server has too much to do.
        """
        self._ending.reclaim(time.monotonic())
        answer, failure = self._begin_stream(path, params, read_timeout)
        if answer.status == 401:
            self._endpoint = self._load()
            answer, failure = self._begin_stream(path, params, read_timeout)
        if answer.status in _BUSY:
            error = refusal(self.server, self._endpoint.name, "watch", path, answer.status, failure)
            raise ServerBusyError(str(error), wait_seconds(answer.headers, otherwise=0.0))
        if answer.status != 200:
            raise refusal(self.server, self._endpoint.name, "watch", path, answer.status, failure)
        return LineStream(answer, self.server, path)

    def let_end(self, stream: LineStream, seconds: float) -> None:
        """Take a stream back that the server ends by itself after so many seconds, and of which little is to come."""
        self._ending.add(stream.left(), time.monotonic() + seconds)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        timeout: tuple[float, float] = (CONNECT_SECONDS, READ_SECONDS),
    ) -> Response:
        """Send one request, never twice; an answer of any status is returned.

        ``body`` is bytes, or data to encode as JSON. Raises WriteRefusedError where we may not write,
        OutcomeUnknownError when the request may have been carried out without our knowing, ClusterError when it was
        not sent.
        """
        if self._read_only and method not in _READS and not self._is_allowed_dry_run(method, path, params):
            raise WriteRefusedError(f"this connection is read-only; {method} {path} was not sent")
        self._traffic.wait(method, path, params)
        encoded = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        return self._request(method, path, params, {"Content-Type": content_type}, encoded, timeout)

    def _refuse_unless_allowed(self, method: str, path: str) -> None:
        """Raise WriteRefusedError for a write that may not be sent at this very moment."""
        if method not in _READS and not path.startswith(_REVIEWS):
            self._endpoint.authorization()  # may take long where a token has run out, and is at hand afterwards
            reason = self._may_write()
            if reason is not None:
                raise WriteRefusedError(f"{method} {path} was not sent: {reason}")

    def _is_allowed_dry_run(self, method: str, path: str, params: Mapping[str, str] | None) -> bool:
        is_eviction = method == "POST" and path.split("?")[0].endswith("/eviction") and "?" not in path
        return self._allow_dry_run_evictions and is_eviction and (params or {}).get("dryRun") == "All"

    def _patiently(self, path: str, params: Mapping[str, str] | None, headers: Mapping[str, str] | None) -> Response:
        """GET, again while the server is busy, and once more when the connection broke."""
        for attempt in range(1, _ATTEMPTS + 1):
            self._traffic.wait("GET", path, params)
            try:
                response = self._request("GET", path, params, headers, None, (CONNECT_SECONDS, READ_SECONDS))
            except OutcomeUnknownError as error:
                if attempt == 1 and not error.is_timeout:
                    continue
                raise ClusterError(str(error)) from error
            if response.status not in _BUSY or attempt == _ATTEMPTS:
                return response
            self._sleep(wait_seconds(response.headers))
        raise AssertionError("the last attempt returns or raises")

    def _request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        body: bytes | None,
        timeout: tuple[float, float],
    ) -> Response:
        endpoint = self._endpoint
        self._refuse_unless_allowed(method, path)
        with (
            transport_failures(endpoint.server, method, path),
            self._traffic.sending(method, path) as sending,
        ):
            answer = begin_request(endpoint, method, path, params, headers, body, timeout)
            server_time = server_date(answer.headers.get("date"))
            sending.answered(answer.status, server_time)
            data = answer.data
        found = {name.lower(): value for name, value in answer.headers.items()}
        self.server_time = server_time or self.server_time
        return Response(answer.status, found, data)

    def _begin_stream(self, path: str, params: Mapping[str, str], read_timeout: float) -> tuple[Any, bytes]:
        """The answer, whose body is not read yet, or a failure with the beginning of what it says."""
        endpoint, body = self._endpoint, b""
        self._traffic.wait("GET", path, params)
        with (
            transport_failures(endpoint.server, "GET", path),
            self._traffic.sending("GET", path, is_stream=True) as sending,
        ):
            answer = begin_request(endpoint, "GET", path, params, None, None, (CONNECT_SECONDS, read_timeout))
            server_time = server_date(answer.headers.get("date"))
            sending.answered(answer.status, server_time)
            if answer.status != 200:
                body = answer.read(_LONGEST_FAILURE)
                answer.close()
        self.server_time = server_time or self.server_time
        return answer, body
