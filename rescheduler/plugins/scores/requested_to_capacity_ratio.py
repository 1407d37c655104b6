"""Nodes score by how full the pod would make their resources, extended ones too, along a shape of choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores.capacity_ratio_arguments import RequestedToCapacityRatioArguments
from rescheduler.plugins.scores.node_resources_fit import NodeResourcesFit
from rescheduler.plugins.scores.resource_use import ResourceUse, uses

_STRATEGY = "RequestedToCapacityRatio"
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class RequestedToCapacityRatio(Score):
    """Weighted mean over resources, in kube-scheduler's integers unless ``absentResources`` is ScoreZero.

    Then, as KEP-964 has it, every resource keeps its weight: one that the node lacks scores 0, and one that the pod
    does not ask for counts as it is used.
    """

    arguments: RequestedToCapacityRatioArguments = field(default_factory=RequestedToCapacityRatioArguments)
    name = _STRATEGY

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Score of each node; no normalisation."""
        if self.arguments.absent_resources == "LeaveOut":
            return self._scheduler.score(pod, placement, feasible)
        total = np.zeros(placement.columns.node_count, dtype=np.int64)
        weights = sum(weight for _, weight in self.arguments.weights)
        for _, weight, use in self._all_uses(pod, placement):
            total += weight * self._scheduler.points(use.before + use.request, use.allocatable)
        return (2 * total + weights) // (2 * weights)  # to the nearest whole score

    def explain(self, pod: int, node: int, placement: Placement) -> str:
        """One node's score in words and numbers; at the end on the scale of 0 to 10 in which KEP-964 prints it."""
        score = self.score(pod, placement, np.ones(placement.columns.node_count, dtype=np.bool_))[node]
        parts, rows = [], []
        for resource, weight, use in self._all_uses(pod, placement):
            used, offered = int(use.before[node]) + use.request, int(use.allocatable[node])
            points = self._scheduler.points(use.before + use.request, use.allocatable)[node]
            parts.append(f"{resource} {used} of {offered}: {points} x {weight}")
            rows.append((used, offered, weight))
        tens, total = ten_point_scores(self.arguments.points, rows)
        printed = ", ".join(map(str, tens))
        return f"{self.name} {score}: {'; '.join(parts)} (of 10: {printed}, together {total})"

    @property
    def _scheduler(self) -> NodeResourcesFit:
        return NodeResourcesFit(_STRATEGY, self.arguments.weights, self.arguments.points)

    def _all_uses(self, pod: int, placement: Placement) -> Iterator[tuple[str, int, ResourceUse]]:
        """Use of each configured resource, also of those that the pod does not ask for or no node has."""
        columns = placement.columns
        for name, weight in self.arguments.weights:
            asked = next(uses(pod, placement, ((name, weight),), has_defaults=True), None)
            row = columns.resource_index.get(name)
            if asked is not None:
                yield name, weight, asked[1]
            elif row is None:
                none = np.zeros(columns.node_count, dtype=np.int64)
                yield name, weight, ResourceUse(none, 0, none)
            else:  # the pod asks for none of it, so it holds none of it on its own nodes either
                yield name, weight, ResourceUse(placement.used[row], 0, columns.allocatable[row])


def ten_point_scores(shape: Sequence[tuple[int, int]], rows: Sequence[tuple[int, int, int]]) -> tuple[list[int], int]:
    """Score of each (used, offered, weight) and their weighted mean, 0 to 10, halves rounded down as KEP-964 prints."""
    scores = [_half_down(_along(shape, used, offered)) for used, offered, _ in rows]
    weights = sum(weight for _, _, weight in rows)
    total = sum(score * weight for score, (_, _, weight) in zip(scores, rows, strict=True))
    return scores, _half_down(Fraction(total, weights)) if weights else 0


def _along(shape: Sequence[tuple[int, int]], used: int, offered: int) -> Fraction:
    if offered <= 0:
        return Fraction(0)
    percent = min(Fraction(100 * used, offered), Fraction(100))
    if percent <= shape[0][0]:
        return Fraction(shape[0][1])
    for (start, low), (end, high) in pairwise(shape):
        if percent <= end:
            return low + (high - low) * (percent - start) / (end - start)
    return Fraction(shape[-1][1])


def _half_down(value: Fraction) -> int:
    return ceil(value - _HALF)
