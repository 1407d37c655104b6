"""Sends one HTTP request within a total time and size: slow bytes, huge answers and hanging names end here."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from concurrent.futures import wait
from contextlib import suppress
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.retry import Retry

from rescheduler.adapters.background import in_background
from rescheduler.extension_points import MetricsError

MOST_BYTES: Final = 64 * 2**20
"""Longest answer, unpacked."""
_CONNECT_SECONDS: Final = 5.0
_READ_BEYOND_SECONDS: Final = 5.0
_CHUNK: Final = 65536


class TotalTimeError(RequestException):
    """The whole answer did not come in time."""


class TooLongError(RequestException):
    """The answer is longer than allowed."""


class LinkLocalError(MetricsError):
    """The name leads to a link-local address, where clouds serve their machines' credentials."""

    # No OSError: urllib3 would take one for a broken connection, and try again.


class _Watch:
    """The connections of one request, so that whoever gives up can cut them."""

    def __init__(self) -> None:
        self.is_cut = False
        self.connections: list[HTTPConnection] = []

    def cut(self) -> None:
        """Shut the sockets down: a thread that waits in one wakes up."""
        self.is_cut = True
        for connection in list(self.connections):
            with suppress(OSError, ValueError, AttributeError):
                # A copy of the descriptor: closing the socket itself would race with the thread that reads it.
                copy = socket.socket(fileno=os.dup(connection.sock.fileno()))
                with copy:
                    copy.shutdown(socket.SHUT_RDWR)


_WATCH: Final[ContextVar[_Watch | None]] = ContextVar("_WATCH", default=None)


def _watched(connection: HTTPConnection) -> None:
    watch = _WATCH.get()
    if watch is not None:
        watch.connections.append(connection)
        if watch.is_cut:
            raise TotalTimeError


def checked_peer(opened: socket.socket) -> socket.socket:
    """The socket, if its peer is one that may be asked at all. Raises LinkLocalError."""
    peer = str(opened.getpeername()[0]).partition("%")[0]
    address = ip_address(peer)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_link_local:
        opened.close()
        raise LinkLocalError(f"leads to {peer}, a link-local address, which is never asked")
    return opened


class _Http(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return checked_peer(super()._new_conn())

    def connect(self) -> None:
        _watched(self)
        super().connect()

    def request(self, *args: Any, **named: Any) -> None:
        _watched(self)
        super().request(*args, **named)


class _Https(_Http, HTTPSConnection):
    """The same over TLS: what is asked of the base class goes on to urllib3's own class for it."""


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https

    def _validate_conn(self, conn: Any) -> None:
        """Connect, without urllib3's warning at each request: the session has given its own, louder one."""
        if conn.is_closed:
            conn.connect()


class BoundedAdapter(HTTPAdapter):
    """A transport whose ``send`` ends within ``seconds``, whatever the server does, retries included.

    Retries only where asking again is safe and likely to help: no connection, 502, 503 or 504.
    """

    def __init__(self, seconds: float, most_bytes: int = MOST_BYTES) -> None:
        self._seconds = seconds
        self._most_bytes = most_bytes
        super().__init__(
            max_retries=Retry(
                total=2, connect=2, read=0, status=2, other=0, status_forcelist=(502, 503, 504), allowed_methods=None,
                backoff_factor=0.2, raise_on_status=False, respect_retry_after_header=False,
            )
        )  # fmt: skip

    def init_poolmanager(self, *args: Any, **named: Any) -> None:
        """Use connections that can be cut."""
        super().init_poolmanager(*args, **named)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - answers are always read whole
        timeout: Any = None,  # noqa: ARG002 - ours holds, also for clients that give none
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> Response:
        """Send, and read the whole answer. Raises RequestException, or LinkLocalError."""
        watch = _Watch()
        answer = in_background(lambda: self._whole(watch, request, verify, cert, proxies), "metrics-request")
        wait([answer], timeout=self._seconds)
        if not answer.done():
            watch.cut()
            raise TotalTimeError(request=request)
        return answer.result()

    def _whole(
        self, watch: _Watch, request: PreparedRequest, verify: bool | str, cert: Any, proxies: Mapping[str, str] | None
    ) -> Response:
        _WATCH.set(watch)
        # The total limit ends the wait; a read time-out of the same length would only race with it.
        timeout = (min(_CONNECT_SECONDS, self._seconds), self._seconds + _READ_BEYOND_SECONDS)
        response = super().send(request, stream=True, timeout=timeout, verify=verify, cert=cert, proxies=proxies)
        with response:
            pieces, size = [], 0
            for piece in response.iter_content(_CHUNK):
                pieces.append(piece)
                size += len(piece)
                if size > self._most_bytes:
                    raise TooLongError(request=request)
        response._content = b"".join(pieces)
        return response
