"""Nodes with more room left (or, by choice, less) once the pod is there score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.printable import shown
from rescheduler.policy.reading.document import Path
from rescheduler.scheduling.plugin import FIRST_FORMS, SCORE_POINTS, NodeOrder, PluginSettings, Priority, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted
from rescheduler.scheduling.reading.names import is_qualified_name
from rescheduler.scheduling.scoring.normalization import MAX_SCORE
from rescheduler.scheduling.scoring.resource_use import ResourceUse, uses, weighed_resources
from rescheduler.scheduling.scoring.wording import mean_of

# The scheduler's configuration scores shape points from 0 to 10.
_POINT_SCALE = 10
LEAST, MOST, RATIO = "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"
_STRATEGIES = [LEAST, MOST, RATIO]
Shape: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NodeResourcesFit(SchedulerScore):
    """Score by use over allocatable, resource by resource, in integers; no normalisation.

    ``strategy``: LeastAllocated, MostAllocated or RequestedToCapacityRatio; ``resources``: names with weights;
    ``shape``: (utilisation 0..100, score 0..10) points, utilisation rising, for the last strategy.
    """

    strategy: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = ((CPU, 1), (MEMORY, 1))
    shape: tuple[tuple[int, int], ...] = ((0, 0), (100, 10))
    name = "NodeResourcesFit"
    stands_at: ClassVar[tuple[str, ...]] = ("placementScore", *SCORE_POINTS)
    priorities: ClassVar[tuple[Priority, ...]] = (
        Priority("LeastRequestedPriority", {"strategy": LEAST}),
        Priority("MostRequestedPriority", {"strategy": MOST}),
    )
    node_order: ClassVar[tuple[NodeOrder, ...]] = (
        NodeOrder("leastrequested.weight", "leastrequested", 1, {"strategy": LEAST}),
        NodeOrder("mostrequested.weight", "mostrequested", 0, {"strategy": MOST}),
    )

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:
        """NodeResourcesFitArgs: the score, and what the filter does not look at."""
        ignored, groups = [], []
        for path, name in fields.names("ignoredResources"):
            if not is_qualified_name(name):
                fields.findings.refuse(path, f"found {quoted(name)}; wanted the name of a resource: DOMAIN/NAME")
            ignored.append(name)
        for path, name in fields.names("ignoredResourceGroups"):
            if "/" in name or not is_qualified_name(name):
                fields.findings.refuse(path, f"found {quoted(name)}; a group is what stands before the slash")
            groups.append(name)
        has_strategy = version not in FIRST_FORMS and fields.has("scoringStrategy")
        score = _strategy(fields.child("scoringStrategy")) if has_strategy else cls()
        fields.refuse_unread()
        profile = {"ignored_resources": tuple(ignored), "ignored_resource_groups": tuple(groups)}
        return PluginSettings(score, profile=profile)

    @property
    def setting(self) -> str:
        """The strategy with its resources and shape."""
        weights = ", ".join(f"{name} {weight}" for name, weight in self.resources)
        shape = ", ".join(f"{use} %: {points}" for use, points in self.shape)
        return f"{self.strategy} of {weights}" + (f"; {shape}" if self._is_ratio else "")

    @property
    def weighed(self) -> tuple[str, ...]:
        """Names of the resources."""
        return tuple(name for name, _ in self.resources)

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


class NodeResourcesLeastAllocated(NodeResourcesFit):
    """The strategy as a plugin of its own, in v1beta1 and before."""

    stands_at = ("score",)
    priorities = ()
    node_order = ()
    is_removed = True
    own_strategy = LEAST

    @classmethod
    def default(cls) -> PluginSettings:
        """By cpu and memory."""
        return PluginSettings(NodeResourcesFit(cls.own_strategy))

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - there was one form only
        """Its arguments of v1beta1."""
        found = NodeResourcesFit(cls.own_strategy, weighed_resources(fields))
        fields.refuse_unread()
        return PluginSettings(found)


class NodeResourcesMostAllocated(NodeResourcesLeastAllocated):
    """The other strategy as a plugin of its own."""

    own_strategy = MOST


def _strategy(fields: Fields) -> NodeResourcesFit:
    kind = fields.text("type")
    if kind not in _STRATEGIES:
        found = quoted(kind) if kind else "nothing"
        fields.findings.refuse(fields.at("type"), f"found {found}; {choices(kind, _STRATEGIES)}")
        kind = LEAST
    resources = weighed_resources(fields)
    shape: Shape = ((0, 0), (100, 10))
    if fields.has("requestedToCapacityRatio"):
        below = fields.child("requestedToCapacityRatio")
        shape = read_shape(below)
        below.refuse_unread()
    elif kind == RATIO:
        fields.findings.refuse(fields.path, "requestedToCapacityRatio is missing; the strategy needs its shape")
    fields.refuse_unread()
    return NodeResourcesFit(kind, resources, shape)


def read_shape(fields: Fields, *, is_sorted_for_them: bool = False) -> Shape:
    """``shape``: points of utilization (0 to 100, rising) and score (0 to 10).

    ``is_sorted_for_them``: points in any order are taken, with a warning that kube-scheduler takes them rising only.
    """
    points = []
    items = fields.children("shape")
    for item in items:
        known = len(fields.findings.problems)
        utilization = item.integer("utilization", 0, 0, 100)
        is_read = len(fields.findings.problems) == known
        score = item.integer("score", 0, 0, 10)
        item.refuse_unread()
        points += [(item.path, utilization, score)] if is_read else []
    if not items and not isinstance(fields.raw("shape"), list):
        fields.findings.refuse(fields.path, f"shape is missing: found {shown(fields.raw('shape'))}; give it a point")
    elif not items:
        fields.findings.refuse(fields.at("shape"), "found no point; give at least one")
    return _rising(fields, points, is_sorted_for_them=is_sorted_for_them)


def _rising(fields: Fields, points: list[tuple[Path, int, int]], *, is_sorted_for_them: bool) -> Shape:
    """The points in order; ``points``: path, utilization and score of those whose utilization could be read."""
    for (_, earlier, _), (path, later, _) in pairwise(points):
        if earlier < later:
            continue
        text = f"utilization {later} stands after {earlier}"
        if is_sorted_for_them and len({utilization for _, utilization, _ in points}) == len(points):
            fields.findings.warn(path, f"{text}; kube-scheduler refuses that, here points are put in order")
        else:
            fields.findings.refuse(path, f"{text}; kube-scheduler wants utilization strictly increasing")
        break
    return tuple(sorted({utilization: score for _, utilization, score in points}.items())) or ((0, 0),)
