"""Nodes that the pod would fill more score higher, by the resources that it asks for (Volcano's binpack plugin)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.plugins.scores.normalization import MAX_SCORE
from rescheduler.plugins.scores.resource_use import uses


@dataclass(frozen=True)
class BinPacking(Score):
    """Weighted mean of the used shares with the pod, in percent.

    A resource that a node lacks, or that would be overfull, counts as 0 in its mean.
    """

    resources: tuple[tuple[str, int], ...] = ((CPU, 1), (MEMORY, 1))
    name = "binpack"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node; 0 for a pod that asks for none of the resources."""
        total = np.zeros(placement.columns.node_count, dtype=np.float64)
        weights = 0
        for weight, (before, request, allocatable) in uses(pod, placement, self.resources, has_defaults=False):
            if request:
                used = before + request
                share = np.divide(used, allocatable, out=np.zeros_like(total), where=allocatable > 0)
                total += weight * np.where(used <= allocatable, share, 0.0)
                weights += weight
        points: IntArray = (MAX_SCORE * total / max(weights, 1)).astype(np.int64)
        return points
