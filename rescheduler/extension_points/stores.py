"""What outlives a process: ledger, lease, audit log, and samples of use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rescheduler.model.daemon.lease import LeaseReading, LeaseRecord
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger, LedgerEntry
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.samples import NodeSamples


class LedgerReading(NamedTuple):
    """The ledger as it stands. ``version``: what ``LedgerStore.write`` has to be given; "" where none exists yet.

    ``stop``: why nothing may be evicted any more, where somebody has marked the ledger so. ``approved``: the number of
    the plan that somebody has approved by a mark on the ledger, "" where there is none. ``uid``: of the object that
    holds it: another one that takes its place has another uid.
    """

    ledger: Ledger
    version: str
    stop: str | None = None
    approved: str = ""
    uid: str = ""


NOTHING_EARLIER = LedgerReading(EMPTY_LEDGER, "")
"""What is known where nobody has written anything down."""


class LedgerStore(Protocol):
    """Where the ledger is kept: one object that several processes may want to change."""

    def read(self) -> LedgerReading:
        """A live read; an empty ledger where there is none yet. Raises ClusterError, also for one that is unreadable.

        StoreError where it is kept in a file of ours.
        """

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger if it still is at ``version``; its new version, or None if somebody else was faster.

        Raises ClusterError (OutcomeUnknownError among them: read again, the ledger itself tells).
        """


class LeaseStore(Protocol):
    """Where the record of who leads is kept: one object that several processes want to change."""

    def read(self) -> LeaseReading | None:
        """A live read; None where there is none. Raises ClusterError, and never waits for long."""

    def create(self, record: LeaseRecord) -> LeaseReading | None:
        """Make the record; None if somebody else was faster. Raises ClusterError as ``update``."""

    def update(self, record: LeaseRecord, version: str) -> LeaseReading | None:
        """Replace the record if it still is at ``version``; None if it is not, or is gone.

        Raises ClusterError; that it was not written is not said by it: read again, the record itself tells.
        """


class AuditLog(Protocol):
    """A record of every eviction on the disk of the process that sends it."""

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Write down entries as they stand now; on return they survive a kill. Raises StoreError.

        Without entries: find out whether something could be written.
        """

    def keep_plan(self, number: int, plan: Plan) -> None:
        """Keep the plan that has just taken this number, so that somebody may go on with it. Raises StoreError."""


class UsageStore(Protocol):
    """Keeps node samples over a restart."""

    def append(self, samples: NodeSamples) -> None:
        """Keep samples; on return they survive a kill. Raises StoreError; what was kept before stays."""

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """Kept samples not older than ``since``, oldest first, one for each set of nodes in use at that time."""

    def close(self) -> None:
        """Let go of the file."""
