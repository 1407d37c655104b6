"""The server on its address: resolved and bound before anything else, run in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from rescheduler.adapters.background import BackgroundThread
from rescheduler.daemon.serving.protection import LARGEST_HEAD, require_protection, require_tls_files
from rescheduler.extension_points import ReschedulerError
from rescheduler.policy.fields.daemon.api import ServerTls
from rescheduler.policy.fields.metrics_access import Tls
from rescheduler.policy.fields.usage import WatcherApi

# HTTP connections that are given up when a request is too long in coming, or too many wait for their first one.

SECONDS: Final = 10.0
"""Time for a request to come in, headers and all: from the start of the connection, or from its first byte."""
MOST_WAITING: Final = 128
"""Connections that have sent no request yet; of more than these the oldest is given up."""


class ImpatientProtocol(H11Protocol):
    """uvicorn's own protocol, which would wait for a request for ever."""

    _patience: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; whoever connects and says nothing does not keep others out."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._begin_to_wait()
        waiting = [one for one in self.connections if isinstance(one, ImpatientProtocol) and one._is_waiting]
        if len(waiting) > MOST_WAITING:
            min(waiting, key=lambda one: one._since)._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._end_to_wait()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Part of a request, or all of it."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """The next request may have begun already."""
        super().on_response_complete()
        self._look()

    @property
    def _is_waiting(self) -> bool:
        return self.scope is None and not self.transport.is_closing()

    def _look(self) -> None:
        """Wait on where a request has begun and its head is not complete."""
        has_begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not has_begun and (self.scope is not None or self.conn.their_state is not h11.IDLE):
            self._end_to_wait()
        elif has_begun and self._patience is None:
            self._begin_to_wait()

    def _begin_to_wait(self) -> None:
        self._patience = self.loop.call_later(SECONDS, self._give_up)

    def _end_to_wait(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self.transport.close()


# A server that shows its renewed certificate without a restart.

TICKS: Final = 100
"""How often the files are looked at, in ticks of the server: every ten seconds."""


class RenewingServer(uvicorn.Server):
    """Looks at certificate and key now and then; those that cannot be used are passed over until they can."""

    def __init__(self, config: uvicorn.Config, tls: Tls | ServerTls | None) -> None:
        super().__init__(config)
        self._tls = tls
        self._seen = _state(tls)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second."""
        if self._tls is not None and counter % TICKS == 0:
            self.look()
        return await super().on_tick(counter)

    def look(self) -> None:
        """Take up what has changed; connections that stand keep what they have."""
        state, context, tls = _state(self._tls), self.config.ssl, self._tls
        if tls is None or context is None or tls.cert_file is None or state is None or state == self._seen:
            return
        try:  # elsewhere first: a certificate that does not fit its key would leave neither
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.cert_file, tls.key_file, lambda: "")
            context.load_cert_chain(tls.cert_file, tls.key_file, lambda: "")
        except (OSError, ValueError):
            return
        self._seen = state


def _state(tls: Tls | ServerTls | None) -> tuple[tuple[int, int, int], ...] | None:
    """What changes when a file is replaced, also by turning a symbolic link; None where one is missing."""
    if tls is None or tls.cert_file is None or tls.key_file is None:
        return None
    try:
        found = [Path(name).stat() for name in (tls.cert_file, tls.key_file)]
    except OSError:
        return None
    return tuple((one.st_ino, one.st_mtime_ns, one.st_size) for one in found)


MOST_CONNECTIONS: Final = 256
STOP_SECONDS: Final = 3
_START_SECONDS: Final = 10.0


class ListenError(ReschedulerError):
    """The address cannot be listened on: names it, and what to write instead."""


class Address(NamedTuple):
    """An address as it was written, and what the machine makes of it."""

    text: str
    family: socket.AddressFamily
    host: str
    port: int


def resolve(text: str) -> Address:
    """What HOST:PORT stands for; no host: every address of this machine. Raises ListenError."""
    host, separator, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ListenError(f"{text!r} is no address to listen on; wanted HOST:PORT, such as 127.0.0.1:2020")
    try:
        found = socket.getaddrinfo(host or None, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "not a host name"
        raise ListenError(f"{text}: the host is not known here ({reason}); wanted an address of this machine") from None
    family, _, _, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    return Address(text, family, str(place[0]), int(port))


def bind(address: Address) -> socket.socket:
    """A socket that listens there. Raises ListenError."""
    # Named as TCP, so that asyncio turns Nagle's algorithm off: else small answers wait 40 ms for an acknowledgement.
    bound = socket.socket(address.family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address.host, address.port))
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise ListenError(f"{address.text}: {_advice(error)}") from None
    return bound


class Door(NamedTuple):
    """How an application may be reached. ``field``: of the policy, for errors; ``largest_head``: bytes.

    ``require``: raises PolicyError for an address, as written and as a number, that others reach without protection.
    """

    name: str
    field: str = ""
    tls: Tls | ServerTls | None = None
    require: Callable[[str, str], None] = lambda _address, _host: None
    largest_head: int = LARGEST_HEAD


def watcher_door(api: WatcherApi) -> Door:
    """The load watcher's: this machine only, or who shows a token or a certificate."""

    def require(address: str, host: str) -> None:
        require_protection(api, address, host)

    return Door("watcher-api", "usage.api", api.tls, require)


class ApplicationServer:
    """The server of one application. Connections are taken from the moment it exists, answered once it is started."""

    def __init__(self, app: ASGIApp, address: str, api: WatcherApi | Door) -> None:
        """Raises ListenError, and PolicyError for an address that is open to others without protection."""
        door = api if isinstance(api, Door) else watcher_door(api)
        where = resolve(address)
        door.require(address, where.host)
        require_tls_files(door.tls, f"{door.field}.tls")
        self._socket = bind(where)
        self._server = RenewingServer(_config(app, door), door.tls)
        self._failure: BaseException | None = None
        self._thread = BackgroundThread(self._run, door.name)
        scheme = "http" if door.tls is None else "https"
        host, port = self._socket.getsockname()[:2]
        self.url = f"{scheme}://[{host}]:{port}" if where.family == socket.AF_INET6 else f"{scheme}://{host}:{port}"

    @property
    def is_running(self) -> bool:
        """Whether requests are being answered."""
        return self._thread.is_running and self._server.started

    def start(self) -> None:
        """Answer requests from now on, in a thread. Raises ListenError if that does not work."""
        self._thread.start()
        for _ in range(int(_START_SECONDS / 0.02)):
            if self._server.started or self._thread.join(0.02):
                break
        if not self.is_running:
            raise ListenError(f"{self.url}: the server did not start: {self._failure or 'no answer'}")

    def stop(self) -> None:
        """Let requests that are being answered finish, then close the address; may be called twice."""
        self._server.should_exit = True
        self._thread.join(STOP_SECONDS + 2)
        self._socket.close()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        except (Exception, SystemExit) as error:  # noqa: BLE001 - told by ``start``; a thread has nobody to raise to
            self._failure = error


def _config(app: ASGIApp, door: Door) -> uvicorn.Config:
    tls = door.tls
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # bad requests are counted, not logged one by one
    return uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=door.largest_head,
        timeout_graceful_shutdown=STOP_SECONDS,
        ssl_certfile=None if tls is None else tls.cert_file,
        ssl_keyfile=None if tls is None else tls.key_file,
        ssl_ca_certs=None if tls is None else tls.ca_file,
        ssl_cert_reqs=ssl.CERT_REQUIRED if tls is not None and tls.ca_file is not None else ssl.CERT_NONE,
    )


def _advice(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another process listens there already; write another --address, or port 0 for any free one"
    if error.errno == errno.EACCES:
        return "listening there is not allowed; write a port above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address; write one that it has, such as 127.0.0.1:2020"
    return f"cannot listen there: {error.strerror or error}"
