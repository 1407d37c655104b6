"""An obviously right planner for emptying tiny clusters: every order of every move, with predicates of its own."""

from __future__ import annotations

from dataclasses import dataclass

from tests.unit.planning.brute_force import BruteForce, State, TinyCluster


@dataclass(frozen=True)
class Best:
    """Most value, and the fewest evictions for that."""

    value: float
    evictions: int


def best_emptying(tiny: TinyCluster, prices: tuple[float, ...] | None = None, most_nodes: int | None = None) -> Best:
    """Look at every state that moves can reach; nodes that were empty count against the value once they are used.

    ``most_nodes``: states with more nodes emptied do not count.
    """
    rules = BruteForce(tiny)
    prices = prices or (1.0,) * len(tiny.nodes)
    start: State = tuple(pod.node for pod in tiny.pods)
    in_use = {node for node in start if node is not None}
    frontier: set[tuple[State, frozenset[int]]] = {(start, frozenset())}
    seen = set(frontier)
    best = Best(0.0, 0)
    while frontier:
        following = set()
        for state, moved in frontier:
            at_end = {node for node in state if node is not None}
            value = sum(prices[node] for node in in_use - at_end) - sum(prices[node] for node in at_end - in_use)
            if most_nodes is None or len(in_use - at_end) <= most_nodes:
                best = max(best, Best(value, len(moved)), key=lambda found: (found.value, -found.evictions))
            following |= steps(rules, state, moved) - seen
        seen |= following
        frontier = following
    return best


def steps(rules: BruteForce, state: State, moved: frozenset[int]) -> set[tuple[State, frozenset[int]]]:
    """States after one more move of a pod that has not moved."""
    tiny = rules.cluster
    found: set[tuple[State, frozenset[int]]] = set()
    if tiny.max_evictions is not None and len(moved) >= tiny.max_evictions:
        return found
    for index, pod in enumerate(tiny.pods):
        if state[index] is None or not pod.is_movable or pod.workload in tiny.frozen or index in moved:
            continue
        for node in range(len(tiny.nodes)):
            if node != state[index] and rules.may_arrive(index, node, state):
                found.add(((*state[:index], node, *state[index + 1 :]), moved | {index}))
    return found
