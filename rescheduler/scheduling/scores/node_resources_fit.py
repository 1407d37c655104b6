"""Nodes with more room left (or, by choice, less) once the pod is there score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.scheduling.scoring.normalization import MAX_SCORE
from rescheduler.scheduling.scoring.resource_use import ResourceUse, uses
from rescheduler.scheduling.scoring.wording import mean_of

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
            counts = self._counts(points, use)
            total += np.where(counts, weight * points, 0)
            weights += weight * counts
        if self._is_ratio:
            total, weights = 2 * total + weights, 2 * weights  # to the nearest whole score
        return quotient(total, np.maximum(weights, 1))

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Each resource's points by the strategy's formula, and their mean."""
        scores = self.score(pod, placement, feasible)
        found = [
            (weight, use, self.points(use.before + use.request, use.allocatable))
            for weight, use in uses(pod, placement, self.resources, has_defaults=True)
        ]
        texts = []
        for node in nodes:
            told = [self.told(use, int(points[node]), node) for _, use, points in found]
            weights = [weight for weight, use, points in found if self._counts(points, use)[node]]
            mean = mean_of(weights) if weights else "nothing counts:"
            texts.append(f"{self.strategy}: {'; '.join((*told, f'{mean} {scores[node]}'))}")
        return texts

    def told(self, use: ResourceUse, points: int, node: int) -> str:
        """How one resource of one node gets its points."""
        before, request, offered = use.told(node)
        taken = f"{before} + {request}"
        if not use.allocatable[node] > 0:
            return f"{use.resource} is not offered"
        if use.before[node] + use.request > use.allocatable[node]:
            formula = f"is over-full ({taken} of {offered})"
        elif self.strategy == "LeastAllocated":
            formula = f"100 x ({offered} - {before} - {request}) / {offered}"
        elif self.strategy == "MostAllocated":
            formula = f"100 x ({taken}) / {offered}"
        else:
            percent = (int(use.before[node]) + use.request) * MAX_SCORE // int(use.allocatable[node])
            formula = f"at 100 x ({taken}) / {offered} = {percent} % of the shape"
        left_out = " (left out)" if self._is_ratio and points == 0 else ""
        return f"{use.resource} {formula} = {points}{left_out}"

    def points(self, used: IntArray, allocatable: IntArray) -> IntArray:
        """Score of one resource for each node, int64[N], 0 where nothing is offered."""
        divisor = np.maximum(allocatable, 1)
        if self.strategy == "LeastAllocated":
            return quotient(np.maximum(allocatable - used, 0) * MAX_SCORE, divisor)
        percent = quotient(np.minimum(used, allocatable) * MAX_SCORE, divisor)
        if self.strategy == "MostAllocated":
            return percent
        return np.where(allocatable > 0, along_shape(self.shape, percent), 0)

    @property
    def _is_ratio(self) -> bool:
        return self.strategy == "RequestedToCapacityRatio"

    def _counts(self, points: IntArray, use: ResourceUse) -> BoolArray:
        # The ratio's mean leaves out resources that score 0; the other strategies count them.
        return points > 0 if self._is_ratio else use.allocatable > 0


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
