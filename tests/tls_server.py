"""A TLS server on loopback that cuts each connection at a stage of its life, and tells what it had got until then."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.unit.daemon.api.certificates import authority

GARBAGE: Final = b"this is no TLS record at all"
CREATED: Final = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"


class TlsServer:
    """``requests``: those that came in whole. ``cut`` is given each connection and ends it in some way."""

    def __init__(self, folder: Path, cut: Callable[[TlsServer, socket.socket], None]) -> None:
        self.requests: list[bytes] = []
        self.is_trusted = True
        self._cut = cut
        self._folder = folder
        issuer = authority(folder)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*issuer.issue("server"))
        self._trusted, self._other = issuer.file, authority(folder, "other").file
        self._listener = socket.create_server(("127.0.0.1", 0))

    def kubeconfig(self) -> str:
        """A kubeconfig for it, which trusts it or another."""
        port = self._listener.getsockname()[1]
        trusted = self._trusted if self.is_trusted else self._other
        cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": trusted}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "one",
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {"token": "secret"}}],
            "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
        }  # fmt: skip
        path = self._folder / "config"
        path.write_text(json.dumps(config))
        return str(path)

    def shake_hands(self, raw: socket.socket) -> ssl.SSLSocket:
        """The connection under TLS."""
        return self.context.wrap_socket(raw, server_side=True)

    def receive(self, connection: ssl.SSLSocket) -> None:
        """One whole request."""
        found = b""
        while b"\r\n\r\n" not in found:
            found += self._more(connection)
        head, _, body = found.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
        length = int(lengths[0]) if lengths else 0
        while len(body) < length:
            body += self._more(connection)
        self.requests.append(head + body)

    def _more(self, connection: ssl.SSLSocket) -> bytes:
        found = connection.recv(65536)
        if not found:
            raise ConnectionError("the client has gone")
        return found

    def serve(self) -> None:
        """Until the listener is closed."""
        with suppress(OSError):
            while True:
                raw, _ = self._listener.accept()
                raw.settimeout(10.0)
                with raw, suppress(OSError):
                    self._cut(self, raw)

    def close(self) -> None:
        """No connection more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def tls_server(folder: Path, cut: Callable[[TlsServer, socket.socket], None]) -> Iterator[TlsServer]:
    """Serve until the block ends."""
    server = TlsServer(folder, cut)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(10.0)


# Where a connection can be cut, before a request and after it.


def at_once(_server: TlsServer, _raw: socket.socket) -> None:
    """Nothing is said."""


def at_the_greeting(_server: TlsServer, raw: socket.socket) -> None:
    """The client's greeting is read, and answered by a reset."""
    raw.recv(16)
    reset(raw)


def with_no_tls(_server: TlsServer, raw: socket.socket) -> None:
    """The greeting is answered in another language."""
    raw.recv(16)
    raw.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")
    raw.recv(65536)


def by_certificate(server: TlsServer, raw: socket.socket) -> None:
    """The client does not take our certificate."""
    server.shake_hands(raw).recv(1)


def for_want_of_a_certificate(server: TlsServer, raw: socket.socket) -> None:
    """The client has no certificate; with TLS 1.3 it hears so only after it has written its request."""
    server.context.minimum_version = ssl.TLSVersion.TLSv1_3
    server.context.verify_mode = ssl.CERT_REQUIRED
    with suppress(ssl.SSLError):
        server.shake_hands(raw)
    raw.recv(65536)


def with_garbage(server: TlsServer, raw: socket.socket) -> None:
    """A request is read, and answered by bytes that are no TLS."""
    connection = server.shake_hands(raw)
    server.receive(connection)
    _under(connection, GARBAGE)


def without_a_word(server: TlsServer, raw: socket.socket) -> None:
    """A request is read, and the connection ends without TLS's own farewell."""
    connection = server.shake_hands(raw)
    server.receive(connection)
    socket.socket(fileno=connection.detach()).close()


def by_reset(server: TlsServer, raw: socket.socket) -> None:
    """A request is read, and the connection is reset."""
    connection = server.shake_hands(raw)
    server.receive(connection)
    reset(connection)


def amid_the_answer(server: TlsServer, raw: socket.socket) -> None:
    """Half of an answer, and then bytes that are no TLS."""
    connection = server.shake_hands(raw)
    server.receive(connection)
    connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 2000\r\n\r\n{")
    _under(connection, GARBAGE)


def at_the_second(server: TlsServer, raw: socket.socket) -> None:
    """A first request is answered; the second on the same connection meets garbage."""
    connection = server.shake_hands(raw)
    server.receive(connection)
    connection.sendall(CREATED)
    server.receive(connection)
    _under(connection, GARBAGE)


def reset(connection: socket.socket) -> None:
    """Close with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _under(connection: ssl.SSLSocket, data: bytes) -> None:
    """Bytes past the encryption."""
    with socket.socket(fileno=connection.detach()) as bare:
        bare.sendall(data)
        bare.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            bare.recv(65536)
