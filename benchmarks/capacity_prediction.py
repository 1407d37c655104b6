"""A scheduler that looks at room alone and likes every node that has it: what resource-only instances mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection, SchedulerPrediction
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement


class CapacityPrediction(SchedulerPrediction):
    """Room in every resource that a pod asks for; nothing else."""

    def __init__(self, columns: Columns) -> None:
        """Every node is open to every pod."""
        self.columns = columns
        self._everywhere = np.ones(columns.node_count, dtype=np.bool_)

    def feasible(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes with room, the pod's own copies left out."""
        request = self.columns.requests[:, self.columns.shape_of[pod]]
        room = placement.free()
        for node in placement.places(pod):
            room[:, node] += placement.held_at(pod, node)
        return np.asarray(((request[:, None] <= room) | (request[:, None] == 0)).all(axis=0))

    def static_feasible(self, pod: int) -> BoolArray:  # noqa: ARG002 - the same for every pod
        """All nodes."""
        return self._everywhere

    def reasons(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes without room."""
        return (Rejection("Insufficient room", ~self.feasible(pod, placement)),)

    def best_nodes(self, pod: int, placement: Placement) -> IntArray:
        """All nodes with room."""
        return np.flatnonzero(self.feasible(pod, placement))
