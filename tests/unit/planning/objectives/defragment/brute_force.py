"""An obviously right planner of Defragment for tiny clusters: every order of every move, with predicates of its own."""

from __future__ import annotations

from dataclasses import dataclass

from tests.unit.planning.brute_force import BruteForce, State, TinyCluster
from tests.unit.planning.objectives.empty_nodes.brute_force import steps

Shapes = tuple[tuple[int, float], ...]
"""Cores and weight of each shape."""


@dataclass(frozen=True)
class Best:
    """Most value, and the fewest evictions for that."""

    value: float
    evictions: int


def best_defragmentation(tiny: TinyCluster, shapes: Shapes) -> Best:
    """Look at every state that moves can reach."""
    rules = BruteForce(tiny)
    start: State = tuple(pod.node for pod in tiny.pods)
    frontier: set[tuple[State, frozenset[int]]] = {(start, frozenset())}
    seen = set(frontier)
    best = Best(value_of(tiny, start, shapes), 0)
    while frontier:
        following = set()
        for state, moved in frontier:
            found = Best(value_of(tiny, state, shapes), len(moved))
            best = max(best, found, key=lambda one: (one.value, -one.evictions))
            following |= steps(rules, state, moved) - seen
        seen |= following
        frontier = following
    return best


def value_of(tiny: TinyCluster, state: State, shapes: Shapes) -> float:
    """Weighted number of shapes that fit on nodes without a taint."""
    total = 0.0
    for number, node in enumerate(tiny.nodes):
        if not node.is_tainted:
            room = node.cores - sum(pod.cores for pod, place in zip(tiny.pods, state, strict=True) if place == number)
            total += sum(weight * (max(0, room) // cores) for cores, weight in shapes)
    return total
