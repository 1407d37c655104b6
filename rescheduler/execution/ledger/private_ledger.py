"""A ledger that nobody else sees and that ends with the process: for trying things out."""

from __future__ import annotations

from rescheduler.extension_points import LedgerReading, LedgerStore
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger


class PrivateLedger(LedgerStore):
    """Where no ledger is given. It holds the debts of one executor, and no others."""

    def __init__(self) -> None:
        self._ledger = EMPTY_LEDGER
        self._version = 0

    def read(self) -> LedgerReading:
        """As it stands; nobody can stop it."""
        return LedgerReading(self._ledger, str(self._version))

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace it; None for another version than the present one."""
        if version != str(self._version):
            return None
        self._ledger = ledger
        self._version += 1
        return str(self._version)
