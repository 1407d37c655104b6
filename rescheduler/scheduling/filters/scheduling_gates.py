"""A gated pod is kept out of scheduling altogether."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SchedulerFilter


class SchedulingGates(SchedulerFilter):
    """No node is sought while ``spec.schedulingGates`` has an entry."""

    name = "SchedulingGates"
    stands_at = ("preEnqueue",)
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """All nodes, for a gated pod."""
        columns = placement.columns
        if not columns.cluster.pods[pod].scheduling_gates:
            return ()
        everywhere = np.ones(columns.node_count, dtype=np.bool_)
        reason = "Scheduling is blocked due to non-empty scheduling gates"
        return (Rejection(reason, everywhere, is_resolvable=False, scope="pod"),)
