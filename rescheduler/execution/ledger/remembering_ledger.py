"""A ledger in the cluster that is compared with what this machine remembers of it: what was lost freezes all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rescheduler.extension_points import LedgerLostError, LedgerReading, LedgerStore, StoreError
from rescheduler.model.daemon.known_ledger import NOTHING_KNOWN, KnownLedger, known_of, loss_of
from rescheduler.model.daemon.ledger import Ledger


class LedgerMemory(Protocol):
    """Where a machine remembers a ledger over the end of its processes."""

    def known(self, name: str) -> KnownLedger:
        """What was remembered last of the ledger of that name. Raises StoreError."""

    def remember(self, name: str, known: KnownLedger) -> None:
        """Remember this from now on. Raises StoreError."""


class RememberingLedger(LedgerStore):
    """Passes on what the inner one reads and writes, as long as nothing is missing from it.

    What cannot be remembered on this machine is told once, and remembered as long as this process lives.
    """

    def __init__(self, inner: LedgerStore, memory: LedgerMemory, name: str, tell: Callable[[str], None]) -> None:
        """``name``: NAMESPACE/NAME of the ledger's object."""
        self._inner = inner
        self._memory = memory
        self._name = name
        self._tell = tell
        self._known: KnownLedger | None = None
        self._uid = ""
        self._is_told = False

    def read(self) -> LedgerReading:
        """As the inner one. Raises LedgerLostError too, where something is missing that was there."""
        known = self._recalled()  # before the reading, so that it cannot be newer than that
        reading = self._inner.read()
        loss = loss_of(known, reading.ledger, reading.uid)
        if loss is not None:
            raise LedgerLostError(
                f"the ledger in ConfigMap {self._name} was removed or replaced by an older one: {loss}; nothing is "
                "evicted. Put back what stood there, or, if no eviction is under way, let it go on without: "
                "rescheduler ledger accept-loss"
            )
        self._uid = reading.uid
        self._remember(known_of(reading.ledger, reading.uid))
        return reading

    def write(self, ledger: Ledger, version: str) -> str | None:
        """As the inner one."""
        written = self._inner.write(ledger, version)
        if written is not None:
            self._remember(known_of(ledger, self._uid))
        return written

    def _recalled(self) -> KnownLedger:
        if self._known is None:
            try:
                self._known = self._memory.known(self._name)
            except StoreError as error:
                self._complain(error)
                self._known = NOTHING_KNOWN
        return self._known

    def _remember(self, known: KnownLedger) -> None:
        if known == self._known:
            return
        self._known = known
        try:
            self._memory.remember(self._name, known)
        except StoreError as error:
            self._complain(error)

    def _complain(self, error: StoreError) -> None:
        if not self._is_told:
            self._is_told = True
            self._tell(f"a ledger that is lost is not noticed by the next process here: {error}")
