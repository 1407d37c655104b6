"""Free ports on loopback."""

from __future__ import annotations

import secrets
import socket

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range from which the kernel takes the ports of outgoing connections: a component that is down for a
moment must not find its port taken by a client, nor a client connect to itself."""

_given: set[int] = set()


def free_port() -> int:
    """Return a port that nobody listens on and that was not given before."""
    for _ in range(1000):
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        if port not in _given and _is_free(port):
            _given.add(port)
            return port
    raise OSError(f"found no free port between {LOWEST} and {HIGHEST}")


def _is_free(port: int) -> bool:
    """Try to listen on a port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
