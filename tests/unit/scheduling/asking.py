"""Ask one filter or score about one pod of a cluster, by names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rescheduler.extension_points import Filter, Rejection, Score
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster


def rejections(plugin: Filter, cluster: Cluster, pod: str, moves: Mapping[str, str] | None = None) -> list[Rejection]:
    """Rejections that name any node; ``moves``: pods (by name) that have arrived on a node and still leave another."""
    columns = columns_of(cluster)
    placement = Placement(columns)
    for name, node in (moves or {}).items():
        placement.move(columns.pod_index[f"default/{name}"], columns.node_index[node])
    found = plugin.reject(columns.pod_index[f"default/{pod}"], placement)
    return [rejection for rejection in found if rejection.nodes.any()]


def refused(
    plugin: Filter, cluster: Cluster, pod: str = "x", moves: Mapping[str, str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Reasons by name of node."""
    found: dict[str, tuple[str, ...]] = {}
    for rejection in rejections(plugin, cluster, pod, moves):
        for index in np.flatnonzero(rejection.nodes):
            name = cluster.nodes[index].name
            found[name] = (*found.get(name, ()), rejection.reason)
    return found


def points(plugin: Score, cluster: Cluster, pod: str = "x", feasible: str | None = None) -> list[int]:
    """Scores of the nodes in the order of their names; ``feasible``: names of the feasible ones, all by default."""
    columns = columns_of(cluster)
    names = feasible.split() if feasible is not None else list(columns.node_index)
    mask = np.array([node.name in names for node in cluster.nodes])
    scores = plugin.score(columns.pod_index[f"default/{pod}"], Placement(columns), mask)
    return [int(score) for score, is_feasible in zip(scores, mask, strict=True) if is_feasible]
