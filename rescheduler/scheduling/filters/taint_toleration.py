"""A pod must tolerate a node's NoSchedule and NoExecute taints."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.extension_points import Filter, Rejection
from rescheduler.model.columns.placement import Placement


class TaintToleration(Filter):
    """``tolerationSeconds`` plays no part: a pod that tolerates NoExecute for no time at all is still scheduled."""

    name = "TaintToleration"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes with a taint that is not tolerated."""
        columns = placement.columns
        tolerations = columns.shapes[columns.shape_of[pod]].tolerations
        nodes = columns.taint_table.untolerated(tolerations)
        return (Rejection("node(s) had untolerated taint(s)", nodes, is_resolvable=False),)
