"""A node that is not ready, going away, virtual or unreadable is no target (our own rule, beside kube-scheduler's)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.node import Node
from rescheduler.scheduling.plugin import SchedulerFilter


class NodeReady(SchedulerFilter):
    """kube-scheduler sees such nodes through their taints alone; a recording may lack those."""

    name = "NodeReady"
    stands_at = ()
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:  # noqa: ARG002 - the same for every pod
        """Nodes that cannot take any pod."""
        return placement.columns.facts(_unusable)


def _unusable(columns: Columns) -> tuple[Rejection, ...]:
    found: dict[str, list[int]] = {}
    for number, node in enumerate(columns.cluster.nodes):
        reason = why_unusable(node)
        if reason is not None:
            found.setdefault(reason, []).append(number)
    rejections = []
    for reason, numbers in found.items():
        mask = np.zeros(columns.node_count, dtype=np.bool_)
        mask[numbers] = True
        rejections.append(Rejection(reason, mask, is_resolvable=False))
    return tuple(rejections)


def why_unusable(node: Node) -> str | None:
    """What keeps a node from being a target for any pod, None for a usable one."""
    if node.problem is not None:
        return f"node(s) could not be used: {node.problem}"
    if node.is_virtual:
        return "node(s) were virtual (label type=virtual-kubelet)"
    if node.deletion_at is not None:
        return "node(s) were being deleted"
    return None if node.is_ready else "node(s) were not ready"
