"""HTTP connections that are given up when no request comes over them."""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS: Final = 10.0
"""Time for the first request on a connection, headers and all."""


class ImpatientProtocol(H11Protocol):
    """uvicorn's own protocol, which would wait for the first request for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._patience = self.loop.call_later(SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._patience.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        if self.scope is None:  # set by the first request
            self.transport.close()
