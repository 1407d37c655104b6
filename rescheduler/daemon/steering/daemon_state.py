"""The daemon's state, as those who look from outside see it: what its notices have told, and what people may change."""

from __future__ import annotations

from dataclasses import dataclass, field

from rescheduler.daemon.steering.approvals import Approvals
from rescheduler.daemon.steering.pausing import Switch
from rescheduler.model.daemon.told_state import ToldState
from rescheduler.model.objects.cluster import Cluster


@dataclass(frozen=True)
class DaemonState(ToldState):
    """Immutable. ``cluster``: the snapshot that was decided on last."""

    cluster: Cluster | None = None
    switch: Switch = field(default_factory=Switch)
    approvals: Approvals = field(default_factory=Approvals)
