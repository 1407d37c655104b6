"""Waves of moves, filled one move at a time: each stays possible whatever the others of its wave have done.

Related pods take turns, groups keep their allowance in each wave, and everybody arrives before others depart; but for
waves that are exchanges, in which all leave before any arrives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import combinations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals, can_exchange, exchange

# Finds, among moves that wait for each other's room, a small group whose pods can change places all at once.

Moves = Sequence[tuple[int, int]]
MOST_TRIED_IN_ALL_WAYS = 8
MOST_STARTS = 200
LARGEST_RING = 60


def find_ring(now: Arrivals, waiting: Moves, is_possible: Callable[[Moves], bool]) -> Moves | None:
    """The smallest group found for which ``is_possible``; None if there is none, or none was found.

    ``waiting``: the moves that are left. Of a few moves every group is tried, smaller ones first; of many, rings that
    grow from one move until all that come find room.
    """
    if len(waiting) <= MOST_TRIED_IN_ALL_WAYS:
        groups = (group for number in range(2, len(waiting) + 1) for group in combinations(waiting, number))
        return next(filter(is_possible, groups), None)
    best: Moves | None = None
    for move in waiting[:MOST_STARTS]:
        ring = _grown(now, move, waiting)
        if ring is not None and (best is None or len(ring) < len(best)) and is_possible(ring):
            best = ring
    if best is None and len(waiting) <= LARGEST_RING and is_possible(waiting):
        best = waiting
    return None if best is None else _without_needless(best, is_possible)


def _grown(now: Arrivals, move: tuple[int, int], waiting: Moves) -> list[tuple[int, int]] | None:
    """The move with others that make room for it, and for each other; None where that does not work out."""
    problem, placement = now.problem, now.placement
    ring = [move]
    chosen = {move[0]}
    room: dict[int, IntArray] = {}

    def add(pod: int, target: int) -> None:
        origin = int(placement.node_of[pod])
        for node in (origin, target):
            if node not in room:
                room[node] = placement.columns.allocatable[:, node] - placement.used[:, node]
        room[origin] = room[origin] + placement.held_at(pod, origin)
        room[target] = room[target] - problem.request_of(pod)

    add(*move)
    while len(ring) <= LARGEST_RING:
        crowded = next((node for _, node in ring if (room[node] < 0).any()), None)
        if crowded is None:
            return ring if len(ring) > 1 else None
        leaving = [item for item in waiting if item[0] not in chosen and placement.node_of[item[0]] == crowded]
        if not leaving:
            return None
        homes = {int(placement.node_of[pod]) for pod, _ in ring}
        lacking = np.maximum(0, -room[crowded])

        def rank(item: tuple[int, int], lacking: IntArray = lacking, homes: set[int] = homes) -> tuple[bool, bool, int]:
            held = placement.held_at(item[0], int(placement.node_of[item[0]]))
            return bool((held < lacking).any()), item[1] not in homes, int(held[0])

        following = min(leaving, key=rank)
        add(*following)
        ring.append(following)
        chosen.add(following[0])
    return None


def _without_needless(ring: Moves, is_possible: Callable[[Moves], bool]) -> Moves:
    """The ring without moves that the others do not need."""
    kept = list(ring)
    for move in ring:
        fewer = [item for item in kept if item != move]
        if len(fewer) > 1 and is_possible(fewer):
            kept = fewer
    return kept


Wave = tuple[tuple[int, int], ...]


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
        self.add(pod, node)
        return True

    def add(self, pod: int, node: int) -> None:
        """Add a move that is known to be possible."""
        self.now.placement.move(pod, node)
        self.wave.append((pod, node))
        self._spent.update(self.groups.of(pod))
        self._in_wave[pod] = True
        if self.problem.is_entangled(pod):
            self._watched[self.problem.entanglement.watched(pod)] = True

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
    def schedule(self) -> WaveSchedule:
        """The closed waves."""
        return WaveSchedule(tuple(self.done), evict_first=frozenset(self.evict_first))
