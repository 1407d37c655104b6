"""HTTP connections that are given up when a request is too long in coming, or too many wait for their first one."""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
