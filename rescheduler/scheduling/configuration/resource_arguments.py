"""Arguments of the resource plugins: strategies, weights of resources, shapes, and what the filter ignores."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.policy.reading.document import Path
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices, quoted, shown
from rescheduler.scheduling.configuration.names import is_qualified_name
from rescheduler.scheduling.scores import NodeResourcesBalancedAllocation, NodeResourcesFit

LEAST, MOST, RATIO = "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"
_STRATEGIES = [LEAST, MOST, RATIO]
_LARGEST_WEIGHT = 100
_DEFAULT_RESOURCES = ((CPU, 1), (MEMORY, 1))
Shape = tuple[tuple[int, int], ...]


class FitSettings(NamedTuple):
    """NodeResourcesFit: its score, and what its filter does not look at."""

    score: NodeResourcesFit = NodeResourcesFit()
    ignored_resources: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()


def fit_settings(fields: Fields, *, has_strategy: bool) -> FitSettings:
    """NodeResourcesFitArgs; v1beta1 has no ``scoringStrategy``."""
    ignored, groups = [], []
    for path, name in fields.names("ignoredResources"):
        if not is_qualified_name(name):
            fields.findings.refuse(path, f"found {quoted(name)}; wanted the name of a resource: DOMAIN/NAME")
        ignored.append(name)
    for path, name in fields.names("ignoredResourceGroups"):
        if "/" in name or not is_qualified_name(name):
            fields.findings.refuse(path, f"found {quoted(name)}; a group is what stands before the slash")
        groups.append(name)
    score = NodeResourcesFit()
    if has_strategy and fields.has("scoringStrategy"):
        score = _strategy(fields.child("scoringStrategy"))
    fields.refuse_unread()
    return FitSettings(score, tuple(ignored), tuple(groups))


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


def least_or_most(fields: Fields, strategy: str) -> NodeResourcesFit:
    """Arguments of NodeResourcesLeastAllocated and NodeResourcesMostAllocated of v1beta1."""
    found = NodeResourcesFit(strategy, weighed_resources(fields))
    fields.refuse_unread()
    return found


def capacity_ratio(fields: Fields) -> NodeResourcesFit:
    """RequestedToCapacityRatioArgs of v1beta1."""
    found = NodeResourcesFit(RATIO, weighed_resources(fields), read_shape(fields))
    fields.refuse_unread()
    return found


def balanced_allocation(fields: Fields) -> NodeResourcesBalancedAllocation:
    """NodeResourcesBalancedAllocationArgs: each resource once, with weight 1."""
    resources = weighed_resources(fields)
    for number, (name, weight) in enumerate(resources):
        path = (*fields.path, "resources", number)
        if weight != 1:
            fields.findings.refuse((*path, "weight"), f"found {weight}; wanted 1, all resources count alike here")
        if name in [known for known, _ in resources[:number]]:
            fields.findings.refuse((*path, "name"), f"{quoted(name)} is given twice")
    fields.refuse_unread()
    return NodeResourcesBalancedAllocation(tuple((name, 1) for name, _ in resources))


def weighed_resources(fields: Fields) -> tuple[tuple[str, int], ...]:
    """``resources``: names with weights of 1 to 100; none: cpu and memory. A weight of 0 or none becomes 1."""
    found: list[tuple[str, int]] = []
    for item in fields.children("resources"):
        name = item.text("name")
        if not name:
            fields.findings.warn(item.path, "name is missing, so no node offers it; write the resource's name")
        weight = item.integer("weight", 1)
        if weight == 0:
            fields.findings.warn(item.at("weight"), f"a weight of 0 for {quoted(name)} counts as 1; leave it out")
            weight = 1
        elif not 1 <= weight <= _LARGEST_WEIGHT:
            fields.findings.refuse(item.at("weight"), f"found {weight}; wanted 1 to {_LARGEST_WEIGHT}")
        if name in [known for known, _ in found]:
            fields.findings.warn(item.at("name"), f"{quoted(name)} is given twice, so both of its weights count")
        item.refuse_unread()
        found += [(name, weight)] if name else []
    return tuple(found) or _DEFAULT_RESOURCES


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
