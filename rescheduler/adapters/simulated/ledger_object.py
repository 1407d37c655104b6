"""The ledger in memory: one object with versions, written by compare-and-swap as an API server would have it."""

from __future__ import annotations

from rescheduler.extension_points import Clock, LedgerReading, LedgerStore
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger

CALL_SECONDS = 0.01
"""What one call to a healthy API server takes."""


class SimulatedLedger(LedgerStore):
    """Any number of simulated processes may share one; it outlives each of them.

    ``stop`` is the mark that an operator sets, a change of the object once it is there; ``writes`` counts those that
    took effect, ``conflicts`` the others. Each call takes ``call_seconds`` on the clock.
    """

    def __init__(self, clock: Clock, ledger: Ledger = EMPTY_LEDGER, *, call_seconds: float = CALL_SECONDS) -> None:
        self._stop: str | None = None
        self.writes = 0
        self.conflicts = 0
        self._clock = clock
        self._ledger = ledger
        self._call_seconds = call_seconds
        self._version = 0 if ledger == EMPTY_LEDGER else 1

    @property
    def ledger(self) -> Ledger:
        """As it stands, without a call; for tests and checkers."""
        return self._ledger

    @property
    def stop(self) -> str | None:
        """Why nothing may be evicted."""
        return self._stop

    @stop.setter
    def stop(self, reason: str | None) -> None:
        self._stop = reason
        self._version += self._version > 0

    @property
    def version(self) -> str:
        """As it stands: "" before the first write."""
        return str(self._version) if self._version else ""

    def read(self) -> LedgerReading:
        """The ledger, its version and the stop mark, as they stand when the call ends."""
        self._clock.sleep(self._call_seconds)
        return LedgerReading(self._ledger, self.version, self._stop)

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger if nobody has written since ``version``; None if somebody has."""
        self._clock.sleep(self._call_seconds)
        if version != self.version:
            self.conflicts += 1
            return None
        self._ledger = ledger
        self._version += 1
        self.writes += 1
        return self.version
