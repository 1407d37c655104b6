"""The obviously right planner, where pods may also leave before they arrive: every group of moves, in every order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from tests.unit.planning.brute_force import BruteForce, State


@dataclass
class BruteForceWithExchanges(BruteForce):
    """Also explores steps in which several pods leave, and then all arrive; ``allowed`` of each workload at once."""

    allowed: int = 1

    def _steps(self, state: State, moved: frozenset[int]) -> set[tuple[State, frozenset[int]]]:
        found = super()._steps(state, moved)
        cap, pods = self.cluster.max_evictions, self.cluster.pods
        leaving = [
            index
            for index, pod in enumerate(pods)
            if pod.node is not None
            and pod.is_movable
            and pod.workload not in self.cluster.frozen
            and index not in moved
        ]
        most = len(leaving) if cap is None else min(len(leaving), cap - len(moved))
        for size in range(2, most + 1):
            for group in combinations(leaving, size):
                if max(Counter(pods[index].workload for index in group).values()) <= self.allowed:
                    found.update((after, moved.union(group)) for after in self._exchanged(state, group))
        return found

    def _exchanged(self, state: State, group: tuple[int, ...]) -> Iterator[State]:
        absent = list(state)
        for index in group:
            absent[index] = None
        for targets in product(range(len(self.cluster.nodes)), repeat=len(group)):
            if any(state[index] == node for index, node in zip(group, targets, strict=True)):
                continue
            goal = dict(zip(group, targets, strict=True))
            if all(self._may_come(index, goal, absent) for index in group):
                after = list(absent)
                for index, node in goal.items():
                    after[index] = node
                yield tuple(after)

    def _may_come(self, index: int, goal: dict[int, int], absent: list[int | None]) -> bool:
        """Whether a pod may arrive whichever of the others has come before it."""
        others = [other for other in goal if other != index]
        for size in range(len(others) + 1):
            for come in combinations(others, size):
                state = list(absent)
                for other in come:
                    state[other] = goal[other]
                if not self.may_arrive(index, goal[index], tuple(state)):
                    return False
        return True
