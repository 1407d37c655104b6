"""A pod goes only to nodes that the scheduler's own profile demands, whatever the pod itself says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rescheduler.extension_points import Filter, Rejection
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import NodeSelectorTerm

UNMATCHED = "node(s) didn't match scheduler-enforced node affinity"


@dataclass(frozen=True)
class EnforcedNodeAffinity(Filter):
    """The required part of ``addedAffinity``; it is looked at before the pod's own node affinity."""

    required: tuple[NodeSelectorTerm, ...]
    name = "NodeAffinity"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:  # noqa: ARG002 - the same for every pod
        """Nodes that no term matches."""
        matching = placement.columns.node_table.demanded((), self.required)
        return (Rejection(UNMATCHED, ~matching, is_resolvable=False),)
