"""An audit log whose lines are news too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rescheduler.extension_points import AuditLog
from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.plan.plan import Plan


class ToldAuditLog(AuditLog):
    """An audit log that is also told of; without an inner one nothing is written."""

    def __init__(self, inner: AuditLog | None, learn: Callable[[Sequence[LedgerEntry]], None]) -> None:
        """``learn`` is given what was written down."""
        self._inner = inner
        self._learn = learn

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Write down, then tell. Raises StoreError; then nothing is told."""
        if self._inner is not None:
            self._inner.note(entries)
        self._learn(entries)

    def keep_plan(self, number: int, plan: Plan) -> None:
        """Hand it on. Raises StoreError."""
        if self._inner is not None:
            self._inner.keep_plan(number, plan)
