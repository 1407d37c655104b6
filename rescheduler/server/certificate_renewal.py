"""A server that shows its renewed certificate without a restart."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

import uvicorn

from rescheduler.policy.api import ServerTls
from rescheduler.policy.metrics_access import Tls

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
