"""One TLS context for all connections to a server, made anew where the files that it is made from have changed."""

from __future__ import annotations

import ssl
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

_GIVEN: Final = ("ca_certs", "ca_cert_dir", "ca_cert_data", "cert_file", "key_file")
"""What a connection of urllib3 is told of certificates, and would read again each time."""


class _Source(NamedTuple):
    """What a context is made from: as it was told, and how the files stood."""

    told: tuple[Any, ...]
    cert_reqs: Any
    files: tuple[tuple[int, int] | None, ...]


class SharedContext:
    """Reading certificates takes as long as shaking hands, and a proof of freshness is a connection. For any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._source: _Source | None = None
        self._context: ssl.SSLContext | None = None

    def lend(self, connection: Any) -> None:
        """Let a connection of urllib3 that is about to be made use it; one with a context of its own keeps that.

        Raises OSError where certificates cannot be read.
        """
        told = getattr(connection, "rescheduler_told", None)
        if told is None:
            is_plain = not all(hasattr(connection, name) for name in (*_GIVEN, "ssl_context"))
            if is_plain or connection.ssl_context is not None or connection.key_password is not None:
                return
            told = connection.rescheduler_told = tuple(getattr(connection, name) for name in _GIVEN)
        paths = (told[0], told[3], told[4])
        source = _Source(told, connection.cert_reqs, tuple(_stamp(path) for path in paths))
        with self._lock:
            if self._context is None or source != self._source:
                self._context, self._source = _made(source), source
            connection.ssl_context = self._context
        for name in _GIVEN:
            setattr(connection, name, None)


def _stamp(path: str | None) -> tuple[int, int] | None:
    """What changes when a file is replaced; None of one that is not there."""
    if path:
        with suppress(OSError):
            found = Path(path).stat()
            return found.st_mtime_ns, found.st_ino
    return None


def _made(source: _Source) -> ssl.SSLContext:
    from urllib3.util.ssl_ import create_urllib3_context, resolve_cert_reqs

    ca_certs, ca_cert_dir, ca_cert_data, cert_file, key_file = source.told
    context = create_urllib3_context(cert_reqs=resolve_cert_reqs(source.cert_reqs))
    if ca_certs or ca_cert_dir or ca_cert_data:
        context.load_verify_locations(ca_certs, ca_cert_dir, ca_cert_data)
    else:
        context.load_default_certs()
    if cert_file:
        context.load_cert_chain(cert_file, key_file, password=_no_password)
    return context


def _no_password() -> str:
    """Nobody is asked for one on a terminal."""
    raise ssl.SSLError("the client's private key is encrypted, and no password for it is known")
