"""Every place where a plugin or an adapter fits in, and the errors that cross it.

This page lists them all, and everybody imports them from here; each stands in the module of its idea.
"""

from rescheduler.extension_points.clock import Clock
from rescheduler.extension_points.cluster import (
    AccessReviewer,
    CapacityTarget,
    ClusterReader,
    EvictionAnswer,
    ExecutionTarget,
    HoldRequest,
    MachineMarket,
)
from rescheduler.extension_points.errors import (
    ClusterError,
    ExecutionError,
    ExecutionInterruptedError,
    LedgerDeniedError,
    LedgerFullError,
    LedgerLostError,
    MetricsError,
    NotSentError,
    ReschedulerError,
    SnapshotError,
    StoreError,
    TaintLostError,
)
from rescheduler.extension_points.gate import Gate
from rescheduler.extension_points.hearers import (
    HearMoves,
    Listener,
    Progress,
    no_progress,
    nobody_hears,
)
from rescheduler.extension_points.plugins import (
    Filter,
    MetricsProvider,
    Rejection,
    Score,
    Trigger,
)
from rescheduler.extension_points.prediction import SchedulerPrediction
from rescheduler.extension_points.stores import (
    NOTHING_EARLIER,
    AuditLog,
    LeaseStore,
    LedgerReading,
    LedgerStore,
    UsageStore,
)

__all__ = [
    "NOTHING_EARLIER",
    "AccessReviewer",
    "AuditLog",
    "CapacityTarget",
    "Clock",
    "ClusterError",
    "ClusterReader",
    "EvictionAnswer",
    "ExecutionError",
    "ExecutionInterruptedError",
    "ExecutionTarget",
    "Filter",
    "Gate",
    "HearMoves",
    "HoldRequest",
    "LeaseStore",
    "LedgerDeniedError",
    "LedgerFullError",
    "LedgerLostError",
    "LedgerReading",
    "LedgerStore",
    "Listener",
    "MachineMarket",
    "MetricsError",
    "MetricsProvider",
    "NotSentError",
    "Progress",
    "Rejection",
    "ReschedulerError",
    "SchedulerPrediction",
    "Score",
    "SnapshotError",
    "StoreError",
    "TaintLostError",
    "Trigger",
    "UsageStore",
    "no_progress",
    "nobody_hears",
]
