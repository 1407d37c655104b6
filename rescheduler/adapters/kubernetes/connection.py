"""Raw requests to the API server: the official client's authentication and transport, our own decoding."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from rescheduler import __version__
from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.credentials import Endpoint, load_endpoint
from rescheduler.adapters.kubernetes.failures import OutcomeUnknownError, WriteRefusedError, refusal, unreachable
from rescheduler.adapters.printable import printable
from rescheduler.extension_points import ClusterError

CONNECT_SECONDS: Final = 5.0
READ_SECONDS: Final = 60.0
PAGE_SIZE: Final = 500
_READS: Final = ("GET", "HEAD")
_BUSY: Final = (429, 502, 503, 504)
_ATTEMPTS: Final = 4
_LONGEST_WAIT: Final = 10.0


class Response(NamedTuple):
    """An answer of the API server, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _ListMeta(msgspec.Struct, gc=False):
    continue_: str | None = msgspec.field(name="continue", default=None)


class _ListHead(msgspec.Struct, gc=False):
    metadata: _ListMeta | None = None


def connect(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    read_only: bool,
    allow_dry_run_evictions: bool = False,
) -> Connection:
    """Open a connection as kubectl would. Sends nothing yet. Raises ClusterError.

    ``read_only`` refuses every write before it is sent; ``allow_dry_run_evictions`` lets evictions with
    ``dryRun=All`` through.
    """
    return Connection(
        lambda: load_endpoint(kubeconfig, context),
        read_only=read_only,
        allow_dry_run_evictions=allow_dry_run_evictions,
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
    ) -> None:
        """``load`` reads the credentials; it is called again when the server stops accepting them."""
        self._load = load
        self._endpoint = load()
        self._read_only = read_only
        self._allow_dry_run_evictions = allow_dry_run_evictions
        self._sleep = sleep
        self.server_time: float | None = None

    @property
    def server(self) -> str:
        """The server's address."""
        return self._endpoint.server

    def without_credentials(self, text: str) -> str:
        """The text with ``***`` for the token that we send, should a server have repeated it."""
        token = (self._endpoint.authorization() or "").rpartition(" ")[2]
        return text.replace(token, "***") if token else text

    def get(
        self, path: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """The body of a successful GET. Raises ClusterError (NotServedError on 404, PagesExpiredError on 410).

        Waits and asks again while the server says that it is busy; reads the credentials afresh on the first 401.
        """
        response = self._patiently(path, params, headers)
        if response.status == 401:
            self._endpoint = self._load()
            response = self._patiently(path, params, headers)
        if not 200 <= response.status < 300:
            raise refusal(self.server, self._endpoint.name, "GET", path, response.status, response.body)
        if response.body.lstrip()[:1] not in (b"{", b"["):
            found = printable(response.body[:80].decode("utf-8", "replace"))
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

        ``body`` is bytes, or data to encode as JSON. Raises WriteRefusedError on a read-only connection,
        OutcomeUnknownError when the request may have been carried out without our knowing, ClusterError when it was
        not sent.
        """
        if self._read_only and method not in _READS and not self._is_allowed_dry_run(method, path, params):
            raise WriteRefusedError(f"this connection is read-only; {method} {path} was not sent")
        encoded = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        return self._request(method, path, params, {"Content-Type": content_type}, encoded, timeout)

    def _is_allowed_dry_run(self, method: str, path: str, params: Mapping[str, str] | None) -> bool:
        is_eviction = method == "POST" and path.split("?")[0].endswith("/eviction") and "?" not in path
        return self._allow_dry_run_evictions and is_eviction and (params or {}).get("dryRun") == "All"

    def _patiently(self, path: str, params: Mapping[str, str] | None, headers: Mapping[str, str] | None) -> Response:
        """GET, again while the server is busy, and once more when the connection broke."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                response = self._request("GET", path, params, headers, None, (CONNECT_SECONDS, READ_SECONDS))
            except OutcomeUnknownError as error:
                if attempt == 1 and not error.is_timeout:
                    continue
                raise ClusterError(str(error)) from error
            if response.status not in _BUSY or attempt == _ATTEMPTS:
                return response
            self._sleep(_wait_seconds(response))
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
        import urllib3

        endpoint = self._endpoint
        url = endpoint.server.rstrip("/") + path + ("?" + urlencode(params) if params else "")
        sent = {"Accept": "application/json", "User-Agent": f"rescheduler/{__version__}", **(headers or {})}
        authorization = endpoint.authorization()
        if authorization:
            sent["Authorization"] = authorization
        waiting = urllib3.Timeout(connect=timeout[0], read=timeout[1])
        try:
            answer = endpoint.pool.request(
                method, url, body=body, headers=sent, timeout=waiting, retries=False, redirect=False,
                preload_content=False,
            )  # fmt: skip
            data = answer.data
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            raise ClusterError(unreachable(endpoint.server, method, path, error)) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            text = unreachable(endpoint.server, method, path, error)
            if isinstance(error, urllib3.exceptions.SSLError | urllib3.exceptions.ProxyError):
                raise ClusterError(text) from error
            raise OutcomeUnknownError(text, is_timeout="Timeout" in type(error).__name__) from error
        found = {name.lower(): value for name, value in answer.headers.items()}
        self.server_time = _date(found.get("date")) or self.server_time
        return Response(answer.status, found, data)


def continue_token(page: bytes) -> str | None:
    """The token for the page after this one; None on the last page. Raises ClusterError if this is no list.

    The API server writes ``metadata`` before ``items``, so the head of the page is enough in practice.
    """
    end = page.find(b'"items"', 0, 4096)
    head = page[:end].rstrip().removesuffix(b",") + b"}" if end > 0 else b""
    for text in (head, page):
        try:
            found = msgspec.json.decode(text, type=_ListHead).metadata
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if found is not None or text is page:
            return found.continue_ if found else None
    raise ClusterError("the API server's list is not valid JSON; was the answer cut off on its way?")


def _wait_seconds(response: Response) -> float:
    try:
        return min(max(float(response.headers.get("retry-after", "1")), 0.0), _LONGEST_WAIT)
    except ValueError:
        return 1.0


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except ValueError:
        return None
