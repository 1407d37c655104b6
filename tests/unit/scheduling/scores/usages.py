"""Builders of usages, and of clusters whose pods the usage-based plugins look into."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import APP, ContainerResources
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.usage import Statistics, Usage
from tests.builders import NOW

Reading = tuple[float, float] | float | None


def usage(
    cluster: Cluster,
    cpu: Mapping[str, Reading] | None = None,
    memory: Mapping[str, Reading] | None = None,
    *,
    age: float | Mapping[str, float] = 0.0,
    window: float = 900.0,
    ranges: Mapping[str, float] | None = None,
    others: Mapping[str, Mapping[str, Reading]] | None = None,
    **fields: Any,
) -> Usage:
    """Average percent, or average and deviation, by node; a node without any has no window. ``age`` of its end.

    ``ranges``: largest less least load by node, the same for all resources.
    """
    by_resource = {CPU: cpu or {}, MEMORY: memory or {}, **(others or {})}
    names = [node.name for node in cluster.nodes]
    known = [any(found.get(name) is not None for found in by_resource.values()) for name in names]
    ages = [age if isinstance(age, int | float) else age.get(name, 0.0) for name in names]
    ends = [NOW - old if here else nan for here, old in zip(known, ages, strict=True)]
    statistics = {
        resource: statistics_of(names, found, ranges or {}) for resource, found in by_resource.items() if found
    }
    return Usage(statistics, np.array(ends), np.full(len(names), window), np.array(known, dtype=np.bool_), **fields)


def statistics_of(names: list[str], found: Mapping[str, Reading], ranges: Mapping[str, float]) -> Statistics:
    """One resource."""
    pairs = [value if isinstance(value, tuple) else (value, nan) for value in map(found.get, names)]
    average = np.array([nan if pair[0] is None else pair[0] for pair in pairs], dtype=np.float64)
    least = np.zeros(len(names))
    most = np.array([ranges.get(name, nan) for name in names])
    unknown = np.full(len(names), nan)
    return Statistics(average, np.array([pair[1] for pair in pairs], dtype=np.float64), unknown, most, least)


def container(
    request: int | None = None, limit: int | None = None, memory: int | None = None, kind: str = APP
) -> ContainerResources:
    """A container by millicores, and bytes of memory asked for; None: not set."""
    requests = [(CPU, request)] if request is not None else []
    requests += [(MEMORY, memory)] if memory is not None else []
    return ContainerResources(tuple(requests), () if limit is None else ((CPU, limit),), kind)


def placement(cluster: Cluster) -> Placement:
    """The cluster's placement as read."""
    return Placement(columns_of(cluster))


def everywhere(placement: Placement) -> BoolArray:
    """All nodes are feasible."""
    return np.ones(placement.columns.node_count, dtype=np.bool_)


def index(placement: Placement, name: str) -> int:
    """Index of the pod of this name in namespace default."""
    return placement.columns.pod_index[f"default/{name}"]


def scores(plugin: Any, placement: Placement, pod: str) -> dict[str, int]:
    """Score of each node by name."""
    found = plugin.score(index(placement, pod), placement, everywhere(placement))
    return {node.name: int(score) for node, score in zip(placement.columns.cluster.nodes, found, strict=True)}


def told(plugin: Score, placement: Placement, pod: str | int, feasible: BoolArray | None = None) -> list[str]:
    """What the plugin says of each feasible node, all by default."""
    number = index(placement, pod) if isinstance(pod, str) else pod
    among = everywhere(placement) if feasible is None else feasible
    return plugin.explain(number, np.flatnonzero(among).tolist(), placement, among)


def told_scores(plugin: Score, placement: Placement, pod: str | int, feasible: BoolArray | None = None) -> list[int]:
    """The number that each of these texts ends with."""
    found = []
    for text in told(plugin, placement, pod, feasible):
        match = re.search(r" (\d+)$", text)
        assert match, text
        found.append(int(match[1]))
    return found
