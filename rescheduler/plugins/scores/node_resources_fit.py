"""Nodes with more room left (or, by choice, less) once the pod is there score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.plugins.scores.normalization import MAX_SCORE
from rescheduler.plugins.scores.resource_use import ResourceUse, uses
from rescheduler.plugins.scores.wording import mean_of

# The scheduler's configuration scores shape points from 0 to 10.
_POINT_SCALE = 10


@dataclass(frozen=True)
class NodeResourcesFit(Score):
    """Score by use over allocatable, resource by resource, in integers; no normalisation.

    ``strategy``: LeastAllocated, MostAllocated or RequestedToCapacityRatio; ``resources``: names with weights;
    ``shape``: (utilisation 0..100, score 0..10) points, utilisation rising, for the last strategy.
    """

    strategy: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = ((CPU, 1), (MEMORY, 1))
    shape: tuple[tuple[int, int], ...] = ((0, 0), (100, 10))
    name = "NodeResourcesFit"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Weighted mean over the resources that a node offers, 0 where it offers none."""
        total = np.zeros(placement.columns.node_count, dtype=np.int64)
        weights = np.zeros_like(total)
        for weight, use in uses(pod, placement, self.resources, has_defaults=True):
            points = self.points(use.before + use.request, use.allocatable)
            # The ratio's mean leaves out resources that score 0; the other strategies count them.
            counts = points > 0 if self._is_ratio else use.allocatable > 0
            total += np.where(counts, weight * points, 0)
            weights += weight * counts
        if self._is_ratio:
            total, weights = 2 * total + weights, 2 * weights  # to the nearest whole score
        return quotient(total, np.maximum(weights, 1))

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Each resource's points by the strategy's formula, and their mean."""
        scores = self.score(pod, placement, feasible)
        found = list(uses(pod, placement, self.resources, has_defaults=True))
        points = [self.points(use.before + use.request, use.allocatable) for _, use in found]
        texts = []
        for node in nodes:
            own = [int(values[node]) for values in points]
            offered = [one for one, (_, use) in zip(own, found, strict=True) if one or use.allocatable[node] > 0]
            parts = [self.told(use, node, one) for one, (_, use) in zip(own, found, strict=True)]
            counted = [weight for one, (weight, use) in zip(own, found, strict=True) if self._counts(one, use, node)]
            mean = f"{mean_of(counted)} {scores[node]}" if counted and offered else f"no resource counts: {scores[node]}"
            texts.append(f"{self.strategy}: {'; '.join((', '.join(parts), mean) if parts else (mean,))}")
        return texts

    def points(self, used: IntArray, allocatable: IntArray) -> IntArray:
        """Score of one resource for each node, int64[N], 0 where nothing is offered."""
        divisor = np.maximum(allocatable, 1)
        if self.strategy == "LeastAllocated":
            return quotient(np.maximum(allocatable - used, 0) * MAX_SCORE, divisor)
        percent = quotient(np.minimum(used, allocatable) * MAX_SCORE, divisor)
        if self.strategy == "MostAllocated":
            return percent
        return np.where(allocatable > 0, along_shape(self.shape, percent), 0)


def quotient(dividend: IntArray, divisor: IntArray) -> IntArray:
    """Whole part of the quotient; neither may be negative.

    Division of unsigned numbers takes a quarter of the time of signed ones, and by one number less again.
    """
    least, largest = int(divisor.min(initial=1)), int(divisor.max(initial=1))
    if least == largest:
        return dividend // largest
    whole: IntArray = (dividend.view(np.uint64) // divisor.view(np.uint64)).view(np.int64)
    return whole


def along_shape(shape: tuple[tuple[int, int], ...], percent: IntArray) -> IntArray:
    """Integer interpolation between the points, times ten; flat before the first point and after the last."""
    found = np.full_like(percent, shape[-1][1] * _POINT_SCALE)
    for (start, low), (end, high) in reversed(list(pairwise(shape))):
        rise = (high - low) * _POINT_SCALE * (percent - start)
        on_segment = low * _POINT_SCALE + np.sign(rise) * (np.abs(rise) // (end - start))
        found = np.where(percent <= end, on_segment, found)
    return np.where(percent <= shape[0][0], shape[0][1] * _POINT_SCALE, found)
