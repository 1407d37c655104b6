"""Who pays for a cluster's nodes: pools, namespaces and owners, and what nobody has asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import fsum
from typing import Final, NamedTuple

from rescheduler.costs.node_prices import NodePrices
from rescheduler.model.costs import PodsCost, PoolCost
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, is_leaving
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.prices import LABELS_OF_KEYS

NO_POOL: Final = "none"
NO_OWNER: Final = "Pod"


class Fleet(NamedTuple):
    """Of all nodes that have a price and are not leaving, to a cent."""

    idle: float
    by_pool: tuple[PoolCost, ...]
    by_namespace: tuple[PodsCost, ...]
    by_owner: tuple[PodsCost, ...]


def fleet_of(cluster: Cluster, prices: NodePrices) -> Fleet:
    """O(pods + nodes)."""
    pools: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    namespaces: defaultdict[str, list[float]] = defaultdict(list)
    owners: defaultdict[str, list[float]] = defaultdict(list)
    for node in cluster.nodes:
        if node.name not in prices.a_month or is_leaving(node):
            continue
        price, idle = prices.of(node), 1.0
        for pod, share in _shares(node, cluster):
            namespaces[pod.namespace].append(price * share)
            owners[payer_of(pod, cluster)].append(price * share)
            idle -= share
        pools[_pool(node)].append((price, price * max(0.0, idle)))
    return Fleet(
        round(fsum(idle for nodes in pools.values() for _, idle in nodes), 2),
        tuple(sorted((_pool_cost(*item) for item in pools.items()), key=lambda one: (-one.cost, one.name))),
        _largest_first(namespaces),
        _largest_first(owners),
    )


def _shares(node: Node, cluster: Cluster) -> list[tuple[Pod, float]]:
    """Of each pod its part of the node; together no more than the whole, though the greater of two shares counts."""
    offered = dict(node.allocatable)
    pods = cluster.pods_by_node.get(node.name, ())
    shares = [max(_part(pod, offered, CPU), _part(pod, offered, MEMORY)) for pod in pods]
    whole = max(1.0, fsum(shares))
    return [(pod, share / whole) for pod, share in zip(pods, shares, strict=True)]


def _part(pod: Pod, offered: Mapping[str, int], resource: str) -> float:
    return dict(pod.spec.requests).get(resource, 0) / offered[resource] if offered.get(resource) else 0.0


def _pool(node: Node) -> str:
    return next((node.labels[label] for label in LABELS_OF_KEYS["nodePool"] if label in node.labels), NO_POOL)


def payer_of(pod: Pod, cluster: Cluster) -> str:
    """What stands at the top of a pod's owners, in words; a pod that nothing recreates stands for itself."""
    workload = cluster.workload_of(pod)
    return f"{NO_OWNER} {pod.key}" if workload is None else workload.key


def _pool_cost(name: str, nodes: list[tuple[float, float]]) -> PoolCost:
    return PoolCost(
        name, len(nodes), round(fsum(price for price, _ in nodes), 2), round(fsum(idle for _, idle in nodes), 2)
    )


def _largest_first(found: Mapping[str, list[float]]) -> tuple[PodsCost, ...]:
    costs = (PodsCost(name, len(parts), round(fsum(parts), 2)) for name, parts in found.items())
    return tuple(sorted(costs, key=lambda one: (-one.cost, one.name)))
