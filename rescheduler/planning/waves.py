"""Waves of moves, filled one move at a time: each stays possible whatever the others of its wave have done.

Related pods take turns, groups keep their allowance in each wave, and everybody arrives before others depart; but for
waves that are exchanges, in which all leave before any arrives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.draft import Schedule
from rescheduler.planning.exchanging import can_exchange, exchange
from rescheduler.planning.problem import Problem
from rescheduler.planning.rings import find_ring

Wave = tuple[tuple[int, int], ...]
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
    """The waves so far (``done``), the present one (``wave``), and the placement while that runs (``now``).

    ``evict_first``: numbers (from 1) of the waves so far that are exchanges.
    """

    def __init__(self, problem: Problem, groups: GroupsOfPods | None = None) -> None:
        """Begin at the start of the problem with an empty wave."""
        self.problem = problem
        self.groups = GroupsOfPods(problem) if groups is None else groups
        self.now = Arrivals(problem)
        self.wave: list[tuple[int, int]] = []
        self.done: list[Wave] = []
        self.evict_first: set[int] = set()
        self._spent: Counter[int] = Counter()
        self._in_wave: BoolArray = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        self._watched: BoolArray = np.zeros(problem.columns.pod_count, dtype=np.bool_)

    def run(self, steps: Iterable[Moves], places: Container[int]) -> list[tuple[int, int, int]]:
        """Fill waves with steps that are known to be possible in this order; several moves in one are an exchange.

        A pod of ``places`` comes from nowhere: it ends the wave, and is returned with its node and the waves by then.
        """
        placed: list[tuple[int, int, int]] = []
        for step in steps:
            pod, node = step[0]
            if len(step) > 1:
                self.close()
                self.exchange(step)
            elif pod in places:
                self.close()
                self.now.placement.assume(pod, node)
                placed.append((pod, node, len(self.done)))
            elif not self.try_move(pod, node):
                self.close()
                moved = self.try_move(pod, node)
                assert moved
        self.close()
        return placed

    def may_leave(self, pod: int) -> bool:
        """Whether a pod's groups and its relations to the pods of the present wave let it leave in this wave."""
        return self.spent_group(pod) is None and not self.has_related(pod)

    def spent_group(self, pod: int) -> int | None:
        """A group of the pod that has no allowance left in this wave."""
        allowed = self.groups.allowed
        return next((number for number in self.groups.of(pod) if self._spent[number] >= allowed[number]), None)

    def has_related(self, pod: int) -> bool:
        """Whether some pod of the present wave bears on this one, or the other way round."""
        if self._watched[pod]:
            return True
        return self.problem.is_entangled(pod) and self.is_watching(pod)

    def is_watching(self, pod: int) -> bool:
        """Whether some pod of the present wave bears on this one."""
        return bool(self._in_wave[self.problem.entanglement.watched(pod)].any())

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

    def may_exchange(self, moves: Moves) -> bool:
        """Whether groups and filters let all pods of these moves leave before any arrives, once the wave has ended."""
        return self.keeps_allowances(moves) and can_exchange(self.now, moves)

    def keeps_allowances(self, moves: Moves) -> bool:
        """Whether the groups let all of these moves happen in one wave."""
        spent = Counter(number for pod, _ in moves for number in self.groups.of(pod))
        return all(many <= self.groups.allowed[number] for number, many in spent.items())

    def exchange(self, moves: Moves) -> None:
        """Add a wave in which all pods of these moves leave before any arrives; the present one has ended."""
        assert not self.wave
        exchange(self.now.placement, moves)
        self.done.append(tuple(moves))
        self.evict_first.add(len(self.done))

    def exchange_some(self, waiting: Moves) -> Moves:
        """Let some of these moves, which wait for each other's room, happen at once; returns them, or nothing."""
        ring = find_ring(self.now, waiting, self.may_exchange) if self.problem.may_evict_first else None
        if ring is None:
            return ()
        self.exchange(ring)
        return ring

    def close(self) -> bool:
        """End the wave; False if it was empty."""
        if not self.wave:
            return False
        self.done.append(tuple(self.wave))
        self.now.placement.settle()
        self._clear()
        return True

    def rewind(self, placement: Arrivals, waves: int) -> None:
        """Back to the end of an earlier wave, with the placement that was kept then."""
        self.now = placement
        del self.done[waves:]
        self.evict_first = {number for number in self.evict_first if number <= waves}
        self._clear()

    def _clear(self) -> None:
        self.wave = []
        self._spent.clear()
        self._in_wave[:] = False
        self._watched[:] = False

    @property
    def schedule(self) -> Schedule:
        """The closed waves."""
        return Schedule(tuple(self.done), evict_first=frozenset(self.evict_first))
