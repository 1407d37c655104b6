"""Packs moves into waves that hold any number of pods, as the sequencing of small plans does for few.

Related pods take turns, groups keep their allowance in each wave, and everybody arrives before others depart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.problem import Problem

Moves = Sequence[tuple[int, int]]


class GroupsOfPods:
    """Disruption groups of each pod, by number; made once for a problem."""

    def __init__(self, problem: Problem) -> None:
        """Turn the groups round."""
        self.allowed = [group.allowed_per_wave for group in problem.groups]
        self._of: dict[int, list[int]] = {}
        for number, group in enumerate(problem.groups):
            for pod in group.pods:
                self._of.setdefault(pod, []).append(number)

    def of(self, pod: int) -> Sequence[int]:
        """Numbers of the groups that hold a pod."""
        return self._of.get(pod, ())


class Waves:
    """The waves so far, and the placement as it is while the present one runs."""

    def __init__(self, problem: Problem, groups: GroupsOfPods) -> None:
        """Begin at the start of the problem with an empty wave."""
        self.problem = problem
        self.groups = groups
        self.now = Arrivals(problem)
        self.wave: list[tuple[int, int]] = []
        self.done: list[tuple[tuple[int, int], ...]] = []
        self._spent: Counter[int] = Counter()
        self._in_wave: BoolArray = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        self._watched: BoolArray = np.zeros(problem.columns.pod_count, dtype=np.bool_)

    def may_leave(self, pod: int) -> bool:
        """Whether a pod's groups and its relations to the pods of the present wave let it leave in this wave."""
        allowed = self.groups.allowed
        if any(self._spent[number] >= allowed[number] for number in self.groups.of(pod)):
            return False
        if self._watched[pod]:
            return False
        return not self.problem.is_entangled(pod) or not self._in_wave[self.problem.entanglement.watched(pod)].any()

    def try_move(self, pod: int, node: int) -> bool:
        """Add a move to the present wave if it may run beside the others of it."""
        if not self.may_leave(pod) or not self.now.can_arrive(pod, node):
            return False
        self.now.placement.move(pod, node)
        self.wave.append((pod, node))
        self._spent.update(self.groups.of(pod))
        self._in_wave[pod] = True
        if self.problem.is_entangled(pod):
            self._watched[self.problem.entanglement.watched(pod)] = True
        return True

    def close(self) -> bool:
        """End the wave; False if it was empty."""
        if not self.wave:
            return False
        self.done.append(tuple(self.wave))
        self.now.placement.settle()
        self.wave = []
        self._spent.clear()
        self._in_wave[:] = False
        self._watched[:] = False
        return True

    def rewind(self, placement: Arrivals, waves: int) -> None:
        """Back to the end of an earlier wave, with the placement that was kept then."""
        self.now = placement
        del self.done[waves:]
        self.wave = []
        self._spent.clear()
        self._in_wave[:] = False
        self._watched[:] = False

    @property
    def schedule(self) -> Schedule:
        """The closed waves."""
        return Schedule(tuple(self.done))


def packed(problem: Problem, groups: GroupsOfPods, order: Moves, deadline: Deadline) -> Schedule | None:
    """As few waves as a greedy look at an order of moves gives; else the waves of the very order, or None."""
    waves, rest = as_far_as_possible(problem, groups, order, deadline)
    if not rest:
        return waves.schedule
    waves = Waves(problem, groups)
    for pod, node in order:
        if deadline.is_over():
            return None
        if not waves.try_move(pod, node) and not (waves.close() and waves.try_move(pod, node)):
            return None
    waves.close()
    return waves.schedule


def as_far_as_possible(
    problem: Problem, groups: GroupsOfPods, order: Moves, deadline: Deadline
) -> tuple[Waves, list[tuple[int, int]]]:
    """Waves of whatever may move, earlier moves of the order first, until nothing more may; and what is left."""
    waves = Waves(problem, groups)
    rest = list(order)
    while rest and not deadline.is_over():
        rest = [(pod, node) for pod, node in rest if deadline.is_over() or not waves.try_move(pod, node)]
        if not waves.close():
            break
    return waves, rest
