"""The best that any order of moves can reach on a tiny cluster, by trying all with predicates of the tests' own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rescheduler.model.objects.cluster import Cluster
from tests.unit.checker.naive import fits

Ends = tuple[str | None, ...]
"""The node of each pod of the cluster, by name."""


def best_reachable(
    cluster: Cluster, movable: Sequence[int], cost: Callable[[Ends], int], most_evictions: int
) -> tuple[int, int]:
    """Least cost, and the fewest evictions for it; each pod moves at most once, one after the other."""
    nodes = {node.name: node for node in cluster.nodes}
    start: Ends = tuple(pod.node_name for pod in cluster.pods)
    frontier = {start}
    seen = {start}
    best = (cost(start), 0)
    for evictions in range(1, most_evictions + 1):
        following = set()
        for state in frontier:
            sitting = [(pod, nodes[name]) for pod, name in zip(cluster.pods, state, strict=True) if name is not None]
            for index in movable:
                if state[index] != start[index]:
                    continue
                pod = cluster.pods[index]
                others = [item for item in sitting if item[0].key != pod.key]
                for node in cluster.nodes:
                    after = (*state[:index], node.name, *state[index + 1 :])
                    if node.name != state[index] and after not in seen and fits(pod, node, others, cluster.nodes):
                        seen.add(after)
                        following.add(after)
                        best = min(best, (cost(after), evictions))
        frontier = following
    return best
