"""A pod must tolerate a node's NoSchedule and NoExecute taints."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SchedulerFilter


class TaintToleration(SchedulerFilter):
    """``tolerationSeconds`` plays no part: a pod that tolerates NoExecute for no time at all is still scheduled."""

    name = "TaintToleration"
    stands_at = ("filter",)
    predicates = ("PodToleratesNodeTaints", "PodToleratesNodeNoExecuteTaints")
    volcano_switch = "predicate.TaintTolerationEnable"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes with a taint that is not tolerated."""
        columns = placement.columns
        tolerations = columns.shapes[columns.shape_of[pod]].tolerations
        nodes = columns.taint_table.untolerated(tolerations)
        return (Rejection("node(s) had untolerated taint(s)", nodes, is_resolvable=False),)
