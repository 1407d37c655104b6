"""Nodes score by how full the pod would make their resources, extended ones too, along a shape of choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.plugin import PluginSettings, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import quoted
from rescheduler.scheduling.scores.node_resources_fit import RATIO, NodeResourcesFit, read_shape
from rescheduler.scheduling.scoring.resource_use import ResourceUse, uses, weighed_resources
from rescheduler.scheduling.scoring.wording import mean_of

# Arguments of RequestedToCapacityRatio: our own form, the scheduler's present one, and the legacy one of KEP-964.

LARGEST_WEIGHT: Final = 100


class ShapePoint(PolicyModel):
    """What a resource scores at one utilization."""

    utilization: Annotated[int, Field(ge=0, le=100)]
    """Percent."""
    score: Annotated[int, Field(ge=0, le=10)]
    """0 to 10."""


def _in_order(points: tuple[ShapePoint, ...]) -> tuple[ShapePoint, ...]:
    """Sort by utilization; two scores at one utilization are refused."""
    found = tuple(sorted(points, key=lambda point: point.utilization))
    for one, other in pairwise(found):
        if one.utilization == other.utilization:
            raise PydanticCustomError(
                "shape", "utilization {found} is given twice; give each once", {"found": one.utilization}
            )
    return found


def _rising(points: tuple[ShapePoint, ...]) -> tuple[ShapePoint, ...]:
    """As kube-scheduler, which sorts nothing."""
    for one, other in pairwise(points):
        if one.utilization >= other.utilization:
            raise PydanticCustomError(
                "shape",
                "utilization {later} stands after {earlier}; kube-scheduler wants it strictly increasing",
                {"later": other.utilization, "earlier": one.utilization},
            )
    return points


def _each_once(resources: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [item.resource_name for item in resources]
    for name in names:
        if names.count(name) > 1:
            raise PydanticCustomError("resources", "{name} is given twice; give it one weight", {"name": repr(name)})
    return resources


def _one_for_zero(weight: Any) -> Any:
    """The scheduler's default: a weight of 0 counts as not given."""
    return 1 if weight == 0 and isinstance(weight, int) and not isinstance(weight, bool) else weight


ResourceName: TypeAlias = Annotated[str, Field(min_length=1, max_length=317)]
ResourceWeight: TypeAlias = Annotated[int, BeforeValidator(_one_for_zero), Field(ge=1, le=LARGEST_WEIGHT)]
Points: TypeAlias = Annotated[tuple[ShapePoint, ...], Field(strict=False, min_length=1, max_length=101)]


class WeightedResource(PolicyModel):
    """A resource and what it counts."""

    name: ResourceName
    """As nodes list it."""
    weight: ResourceWeight = 1
    """1 to 100; 0 counts as 1."""

    @property
    def resource_name(self) -> str:
        """The resource."""
        return self.name


class LegacyResource(PolicyModel):
    """The same as the legacy form writes it."""

    resource: ResourceName
    """As nodes list it."""
    weight: ResourceWeight = 1
    """1 to 100; 0 counts as 1."""

    @property
    def resource_name(self) -> str:
        """The resource."""
        return self.resource


Resources: TypeAlias = Annotated[tuple[WeightedResource, ...], Field(strict=False), AfterValidator(_each_once)]
_DEFAULT_RESOURCES = (WeightedResource(name=CPU), WeightedResource(name=MEMORY))


class RequestedToCapacityRatioArguments(PolicyModel):
    """Our own form."""

    shape: Annotated[Points, AfterValidator(_in_order)] = (
        ShapePoint(utilization=0, score=0),
        ShapePoint(utilization=100, score=10),
    )
    """Points in any order."""
    resources: Resources = _DEFAULT_RESOURCES
    """What is scored; none: cpu and memory."""
    absent_resources: Literal["LeaveOut", "ScoreZero"] = "LeaveOut"
    """A resource that a node lacks leaves the mean, as the scheduler has it, or scores 0 in it (KEP-964)."""

    @property
    def weights(self) -> tuple[tuple[str, int], ...]:
        """Resources with their weights."""
        return tuple((item.name, item.weight) for item in self.resources or _DEFAULT_RESOURCES)

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Utilization and score of each point, utilization rising."""
        return tuple((point.utilization, point.score) for point in self.shape)


class RequestedToCapacityRatioParam(PolicyModel):
    """``scoringStrategy.requestedToCapacityRatio``."""

    shape: Annotated[Points, AfterValidator(_rising)]
    """Points with utilization strictly increasing."""


class ScoringStrategy(PolicyModel):
    """``scoringStrategy`` of NodeResourcesFitArgs, refused where kube-scheduler refuses it at start."""

    type: Literal["RequestedToCapacityRatio"]
    """The other strategies are NodeResourcesFit's own."""
    resources: Resources = ()
    """What is scored; none: cpu and memory."""
    requested_to_capacity_ratio: RequestedToCapacityRatioParam
    """The shape."""

    @property
    def arguments(self) -> RequestedToCapacityRatioArguments:
        """The same in our form."""
        return RequestedToCapacityRatioArguments(
            shape=self.requested_to_capacity_ratio.shape, resources=self.resources or _DEFAULT_RESOURCES
        )


class LegacyRatioArguments(PolicyModel):
    """``requestedToCapacityRatioArguments`` of the legacy Policy; points may stand in any order, as in KEP-964."""

    shape: Annotated[Points, AfterValidator(_in_order)]
    """Points in any order."""
    resources: Annotated[tuple[LegacyResource, ...], Field(strict=False), AfterValidator(_each_once)] = ()
    """What is scored; none: cpu and memory."""

    @property
    def arguments(self) -> RequestedToCapacityRatioArguments:
        """The same in our form."""
        resources = tuple(WeightedResource(name=item.resource, weight=item.weight) for item in self.resources)
        return RequestedToCapacityRatioArguments(shape=self.shape, resources=resources or _DEFAULT_RESOURCES)


_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class RequestedToCapacityRatio(SchedulerScore):
    """Weighted mean over resources, in kube-scheduler's integers unless ``absentResources`` is ScoreZero.

    Then, as KEP-964 has it, every resource keeps its weight: one that the node lacks scores 0, and one that the pod
    does not ask for counts as it is used.
    """

    arguments: RequestedToCapacityRatioArguments = field(default_factory=RequestedToCapacityRatioArguments)
    name = RATIO
    is_removed = True
    required = "a shape"
    legacy_argument = "requestedToCapacityRatioArguments"

    @classmethod
    def default(cls) -> PluginSettings:
        """None: it has no shape of its own."""
        return PluginSettings()

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - there was one form only
        """RequestedToCapacityRatioArgs of v1beta1."""
        found = NodeResourcesFit(RATIO, weighed_resources(fields), read_shape(fields))
        fields.refuse_unread()
        return PluginSettings(found)

    @classmethod
    def read_legacy(cls, fields: Fields) -> NodeResourcesFit:
        """Shape and weights; points may stand in any order, a resource is named by ``name`` or ``resource``."""
        shape = read_shape(fields, is_sorted_for_them=True)
        weights: dict[str, int] = {}
        for item in fields.children("resources"):
            name = item.text("name")
            if item.has("resource") and not name:
                name = item.text("resource")
                text = f"{quoted(name)} is named by resource, as in KEP-964; kube-scheduler reads name"
                item.findings.warn(item.at("resource"), text, at_key=True)
            weight = _weight(item, name)
            item.warn_unread("kube-scheduler")
            if not name:
                item.findings.refuse(item.path, "name is missing; write the resource as nodes list it")
            elif name in weights:
                item.findings.refuse(item.path, f"{quoted(name)} is given twice; a resource has one weight")
            weights.setdefault(name, weight)
        fields.warn_unread("kube-scheduler")
        return NodeResourcesFit(RATIO, tuple(weights.items()) or ((CPU, 1), (MEMORY, 1)), shape)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Score of each node; no normalisation."""
        if self.arguments.absent_resources == "LeaveOut":
            return self._scheduler.score(pod, placement, feasible)
        total = np.zeros(placement.columns.node_count, dtype=np.int64)
        weights = sum(weight for _, weight in self.arguments.weights)
        for weight, use in self._all_uses(pod, placement):
            total += weight * self._scheduler.points(use.before + use.request, use.allocatable)
        return (2 * total + weights) // (2 * weights)  # to the nearest whole score

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Each resource's points and their mean; in brackets on the scale of 0 to 10 in which KEP-964 prints them."""
        scores = self.score(pod, placement, feasible)
        found = [
            (weight, use, self._scheduler.points(use.before + use.request, use.allocatable))
            for weight, use in self._all_uses(pod, placement)
        ]
        in_mean = self._in_mean(pod, placement)
        texts = []
        for node in nodes:
            parts, weights, rows = [], [], []
            for weight, use, points in found:
                before, request, offered = use.told(node)
                is_counted = in_mean is None or (use.resource in in_mean and bool(points[node]))
                left_out = "" if is_counted else " (left out)"
                parts.append(f"{use.resource} {before} + {request} of {offered} = {points[node]}{left_out}")
                weights += [weight] * is_counted
                rows.append((int(use.before[node]) + use.request, int(use.allocatable[node]), weight))
            tens, total = ten_point_scores(self.arguments.points, rows)
            printed = f"(of 10: {', '.join(map(str, tens))}, together {total})"
            mean = mean_of(weights) if weights else "nothing counts:"
            texts.append(f"{'; '.join(parts)} {printed}; {mean} {scores[node]}")
        return texts

    def _in_mean(self, pod: int, placement: Placement) -> frozenset[str] | None:
        """Resources that count on nodes where they score; None: all, everywhere."""
        if self.arguments.absent_resources != "LeaveOut":
            return None
        found = uses(pod, placement, self.arguments.weights, has_defaults=True)
        return frozenset(use.resource for _, use in found)

    @property
    def _scheduler(self) -> NodeResourcesFit:
        return NodeResourcesFit(RATIO, self.arguments.weights, self.arguments.points)

    def _all_uses(self, pod: int, placement: Placement) -> Iterator[tuple[int, ResourceUse]]:
        """Use of each configured resource, also of those that the pod does not ask for or no node has."""
        columns = placement.columns
        for name, weight in self.arguments.weights:
            asked = next(uses(pod, placement, ((name, weight),), has_defaults=True), None)
            row = columns.resource_index.get(name)
            if asked is not None:
                yield asked
            elif row is None:
                none = np.zeros(columns.node_count, dtype=np.int64)
                yield weight, ResourceUse(name, none, 0, none)
            else:  # the pod asks for none of it, so it holds none of it on its own nodes either
                yield weight, ResourceUse(name, placement.used[row], 0, columns.allocatable[row])


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


def _weight(fields: Fields, name: str) -> int:
    weight = fields.integer("weight", 1)
    if weight == 0:
        fields.findings.warn(fields.at("weight"), f"a weight of 0 for {quoted(name)} counts as 1; leave it out")
        return 1
    if not 1 <= weight <= LARGEST_WEIGHT:
        fields.findings.refuse(fields.at("weight"), f"found {weight} for {quoted(name)}; wanted 1 to {LARGEST_WEIGHT}")
        return 1
    return weight
