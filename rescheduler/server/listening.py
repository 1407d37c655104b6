"""The server on its address: resolved and bound before anything else, run in a thread of its own."""

from __future__ import annotations

import errno
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Final, NamedTuple

import uvicorn
from starlette.types import ASGIApp

from rescheduler.extension_points import ReschedulerError
from rescheduler.policy.api import ServerTls
from rescheduler.policy.metrics_access import Tls
from rescheduler.policy.usage import WatcherApi
from rescheduler.server.certificate_renewal import RenewingServer
from rescheduler.server.impatience import ImpatientProtocol
from rescheduler.server.protection import LARGEST_HEAD, require_protection, require_tls_files

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


class Listener:
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
        self._thread = threading.Thread(target=self._run, name=door.name, daemon=True)
        scheme = "http" if door.tls is None else "https"
        host, port = self._socket.getsockname()[:2]
        self.url = f"{scheme}://[{host}]:{port}" if where.family == socket.AF_INET6 else f"{scheme}://{host}:{port}"

    @property
    def is_running(self) -> bool:
        """Whether requests are being answered."""
        return self._thread.is_alive() and self._server.started

    def start(self) -> None:
        """Answer requests from now on, in a thread. Raises ListenError if that does not work."""
        self._thread.start()
        waiting = threading.Event()
        for _ in range(int(_START_SECONDS / 0.02)):
            if self._server.started or not self._thread.is_alive():
                break
            waiting.wait(0.02)
        if not self.is_running:
            raise ListenError(f"{self.url}: the server did not start: {self._failure or 'no answer'}")

    def stop(self) -> None:
        """Let requests that are being answered finish, then close the address; may be called twice."""
        self._server.should_exit = True
        if self._thread.ident is not None:
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
