"""Counts again how far nodes are over their target once a plan is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.observed_use import ObservedUse


def overload_left(cluster: Cluster, plan: Plan, observed: ObservedUse, target: Mapping[str, float]) -> float:
    """Use above the target in worth of a mean node, summed over nodes whose load is known, and over resources."""
    node_of = {pod.key: pod.node_name for pod in cluster.pods if not pod.is_finished}
    node_of |= {move.pod.key: move.to_node for move in plan.moves}
    node_of |= {item.pod.key: item.node for item in plan.placements}
    position = {node.name: number for number, node in enumerate(cluster.nodes)}
    total = 0.0
    for row, resource in enumerate(observed.resources):
        if resource not in target:
            continue
        used: defaultdict[int, float] = defaultdict(float)
        for number, pod in enumerate(cluster.pods):
            node = node_of.get(pod.key)
            if node in position:
                used[position[node]] += float(observed.of_pods[row, number])
        capacity = observed.capacity[row]
        mean = float(capacity.mean()) if len(capacity) else 0.0
        if mean <= 0:
            continue
        for number in range(len(cluster.nodes)):
            if observed.is_known[number]:
                use = used[number] + float(observed.of_rest[row, number])
                total += max(0.0, use - target[resource] * float(capacity[number])) / mean
    return total
