"""The errors that cross an extension point."""

from __future__ import annotations

from rescheduler.model.plan.plan import PlanResult


class ReschedulerError(Exception):
    """An error that a user can act on: the text names what was found, what was wanted, where, and the choices."""


class SnapshotError(ReschedulerError):
    """A recording cannot be used: names file, object and field."""


class ClusterError(ReschedulerError):
    """The API server cannot be reached, refuses, or answers something unusable."""


class NotSentError(ClusterError):
    """A write that we refused ourselves, right before it would have been sent: nothing has happened."""


class TaintLostError(ClusterError):
    """Somebody took our own taint off a node that a plan keeps closed; it is not put back against him."""


class MetricsError(ReschedulerError):
    """A metrics provider cannot be asked, refuses, or answers something unusable: names provider and address."""


class LedgerDeniedError(ClusterError):
    """We may not read or write the ledger on the cluster; it may be kept elsewhere instead."""


class LedgerLostError(ClusterError):
    """What was written down of earlier evictions is not there any more, or not all of it: nothing may be evicted."""


class LedgerFullError(NotSentError):
    """There is no room in the ledger for another eviction; nothing was written."""


class StoreError(ReschedulerError):
    """A file of ours cannot be written (a full disk, say) or opened."""


class ExecutionError(ReschedulerError):
    """A plan had to stop."""


class ExecutionInterruptedError(ExecutionError):
    """A person or a signal stopped a plan: holds are released, ``result`` says what was done, open, not started."""

    def __init__(self, message: str, result: PlanResult) -> None:
        super().__init__(message)
        self.result = result
