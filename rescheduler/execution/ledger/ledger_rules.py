"""How one process keeps the ledger, and what makes it stop: a newer plan, a mark, a switch, a full disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from rescheduler.execution.ledger.ledger_writer import LedgerWriter
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import AuditLog, Clock, LedgerStore, StoreError
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from rescheduler.model.plan.plan import Plan


class LedgerRules(NamedTuple):
    """``holder``: who we are, for those whom we stop or who stop us. ``keep_seconds``: how long closed entries stay;
    ``label_keys``: of the labels that budgets ask about. ``waits_until_repaid``: between waves, wait until the
    workloads that are to lose pods again have no debt; without it, a wave waits until the one before is Ready.
    """

    holder: str = "rescheduler"
    keep_seconds: float = 86400.0
    waits_until_repaid: bool = False
    label_keys: frozenset[str] = frozenset()

    def writer(self, store: LedgerStore, clock: Clock) -> LedgerWriter:
        """Writes a ledger by these rules."""
        return LedgerWriter(store, clock, keep_seconds=self.keep_seconds, label_keys=self.label_keys)


DEFAULT_RULES = LedgerRules()


class LedgerSettings(NamedTuple):
    """Where a ledger is kept: ``store`` for everybody, ``audit`` on our own disk; ``stopped``: see Executor."""

    store: LedgerStore
    audit: AuditLog | None
    stopped: Callable[[], str | None]
    rules: LedgerRules

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Write entries into the audit log, or find out whether that works. Raises PlanStoppedError."""
        if self.audit is None:
            return
        try:
            self.audit.note(entries)
        except StoreError as error:
            raise PlanStoppedError(f"nothing is evicted that cannot be written down here: {error}") from error

    def keep_plan(self, number: int, plan: Plan) -> None:
        """Keep a plan that begins; what goes wrong costs nothing but going on with it by its number."""
        if self.audit is not None:
            with suppress(StoreError):
                self.audit.keep_plan(number, plan)

    def tell(self, entry: LedgerEntry) -> None:
        """Write an answer into the audit log; what goes wrong is found again, and told, before the next eviction."""
        if self.audit is not None:
            try:
                self.audit.note([entry])
            except StoreError:
                return

    def check_switch(self) -> None:
        """Raise PlanStoppedError if we were told to stop on our own machine."""
        reason = self.stopped()
        if reason is not None:
            raise PlanStoppedError(f"stopped: {reason}; nothing more is evicted")

    def check_stop(self, writer: LedgerWriter) -> None:
        """Raise PlanStoppedError if the ledger as it was read last says stop, or our own machine does."""
        if writer.stop is not None:
            raise PlanStoppedError(f"stopped by the mark on the ledger: {writer.stop}; nothing more is evicted")
        self.check_switch()


def check_fence(ledger: Ledger, plan: int) -> None:
    """Raise PlanStoppedError if a newer plan than ours has begun, or somebody has taken the ledger away."""
    if ledger.plan < plan:
        raise PlanStoppedError("the ledger was removed or replaced by an older one; nothing more is evicted")
    if ledger.plan > plan:
        raise PlanStoppedError(
            f"plan {ledger.plan} of {ledger.holder or 'somebody else'} has begun and takes the place of this one, "
            f"plan {plan}; nothing more is evicted"
        )
