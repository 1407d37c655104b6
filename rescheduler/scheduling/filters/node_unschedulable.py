"""A cordoned node takes no pods but those that tolerate it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.taints import CORDON, is_tolerated
from rescheduler.scheduling.plugin import SchedulerFilter


class NodeUnschedulable(SchedulerFilter):
    """``spec.unschedulable`` is read as the taint that it stands for."""

    name = "NodeUnschedulable"
    stands_at = ("filter",)
    predicates = ("CheckNodeUnschedulable", "CheckNodeCondition")
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Cordoned nodes, unless the pod tolerates the taint of a cordon."""
        columns = placement.columns
        tolerations = columns.shapes[columns.shape_of[pod]].tolerations
        if is_tolerated(CORDON, tolerations):
            return ()
        return (Rejection("node(s) were unschedulable", columns.facts(cordoned), is_resolvable=False),)


def cordoned(columns: Columns) -> BoolArray:
    """Nodes marked unschedulable, bool[N]."""
    return np.array([node.is_unschedulable for node in columns.cluster.nodes], dtype=np.bool_)
