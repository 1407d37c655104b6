"""Packs many moves into few waves: a move that cannot run is looked at again only when what stopped it has changed."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

Moves = Sequence[tuple[int, int]]
_LOOKS_AT_ONCE = 32  # between two looks at the clock


def packed(problem: Problem, groups: GroupsOfPods, order: Moves, deadline: Deadline) -> WaveSchedule | None:
    """As few waves as a greedy look at an order of moves gives; else the waves of the very order, or None.

    Where the problem allows that, and only where no such order is found, some pods leave before they arrive.
    """
    waves, rest = as_far_as_possible(problem, groups, order, deadline)
    if not rest:
        return waves.schedule
    found = packed_in_order(problem, groups, order, deadline)
    if found is None and problem.may_evict_first:
        waves, rest = as_far_as_possible(problem, groups, order, deadline, may_exchange=True)
        return None if rest else waves.schedule
    return found


def packed_in_order(problem: Problem, groups: GroupsOfPods, order: Moves, deadline: Deadline) -> WaveSchedule | None:
    """Waves in which moves run in this very order; None if one is not possible when its turn comes, or in time."""
    waves = Waves(problem, groups)
    for pod, node in order:
        if deadline.is_over():
            return None
        if not waves.try_move(pod, node) and not (waves.close() and waves.try_move(pod, node)):
            return None
    waves.close()
    return waves.schedule


def as_far_as_possible(
    problem: Problem,
    groups: GroupsOfPods,
    order: Moves,
    deadline: Deadline,
    detours: BoolArray | None = None,
    *,
    alone: int = 0,
    may_exchange: bool = False,
) -> tuple[Waves, list[tuple[int, int]]]:
    """Waves of whatever may move, earlier moves of the order first, until nothing more may; and what is left.

    ``detours``: bool[N], nodes on which a pod may end in place of its goal where moves wait for each other in a ring.
    ``alone``: so many of the order go in waves of their own, before any of the others. ``may_exchange``: let the pods
    of such a ring leave before they arrive, if the problem allows that.
    """
    packing = _Packing(problem, groups, order, detours, alone=alone, may_exchange=may_exchange)
    packing.run(deadline)
    return packing.waves, packing.rest


def by_urgency(problem: Problem, groups: GroupsOfPods, moves: Mapping[int, int]) -> list[tuple[int, int]]:
    """An order of moves (pod to node): pods of groups that need the most waves first, then where others wait for room.

    Together with the packing this comes near the least number of waves, the most that one group needs.
    """
    in_group: Counter[int] = Counter(number for pod in moves for number in groups.of(pod))
    waited_for = Counter(moves.values())
    origin = problem.start.node_of

    def waves_needed(pod: int) -> int:
        return max((-(-in_group[number] // groups.allowed[number]) for number in groups.of(pod)), default=1)

    order = sorted(moves, key=lambda pod: (-waves_needed(pod), -waited_for[int(origin[pod])], pod))
    return [(pod, moves[pod]) for pod in order]


def by_size(problem: Problem, moves: Mapping[int, int]) -> tuple[list[tuple[int, int]], int]:
    """An order of moves (pod to node): those first that make room where others arrive, of these the largest pods.

    Few pods are left that wait for each other's room: small ones find some almost anywhere and almost any time, the
    fewest if those that make room, whose number comes with the order, go ``alone``.
    """
    pods = np.array(list(moves), dtype=np.int64)
    capacity = np.maximum(1, problem.columns.allocatable.mean(axis=1))
    size = (problem.requested(pods) / capacity[:, None]).max(axis=0, initial=0.0)
    makes_room = np.isin(problem.start.node_of[pods], np.array(list(moves.values()), dtype=np.int64))
    order = np.lexsort((pods, -size, ~makes_room))
    return [(int(pod), moves[int(pod)]) for pod in pods[order]], int(makes_room.sum())


class _Packing:
    """Moves by what they wait for: the next wave, room on their goal, or the allowance of a group."""

    def __init__(
        self,
        problem: Problem,
        groups: GroupsOfPods,
        order: Moves,
        detours: BoolArray | None,
        *,
        alone: int,
        may_exchange: bool,
    ) -> None:
        self.problem = problem
        self._may_exchange = may_exchange
        self.groups = groups
        self.waves = Waves(problem, groups)
        self.moves = list(order)
        self._detours = detours
        self._origin = problem.start.node_of
        self._ready: list[int] = list(range(alone or len(self.moves)))
        self._held: list[int] = list(range(len(self._ready), len(self.moves)))
        self._next: list[int] = []
        self._for_room: dict[int, list[int]] = defaultdict(list)
        self._for_group: dict[int, list[int]] = defaultdict(list)
        self._refused: list[int] = []

    @property
    def rest(self) -> list[tuple[int, int]]:
        """Moves that were not made, in their order."""
        done = {pod for wave in self.waves.done for pod, _ in wave}
        return [move for move in self.moves if move[0] not in done]

    def run(self, deadline: Deadline) -> None:
        """Fill wave after wave."""
        while not deadline.is_over():
            looks = 0
            while self._ready:
                looks += 1
                if looks % _LOOKS_AT_ONCE == 0 and deadline.is_over():
                    self.waves.close()
                    return
                self._look_at(heapq.heappop(self._ready))
            if self.waves.wave:
                self._close()
            elif self._held:
                self._ready, self._held = self._held, []
            elif not self._make_detours() and not self._exchange():
                return

    def _look_at(self, number: int) -> None:
        pod, node = self.moves[number]
        group = self.waves.spent_group(pod)
        if group is not None:
            heapq.heappush(self._for_group[group], number)
            return
        if self.waves.has_related(pod):
            self._next.append(number)
        elif not self.waves.now.has_room(pod, node):
            self._for_room[node].append(number)
        elif not self.waves.now.others_allow(pod, node):
            self._refused.append(number)
        else:
            self.waves.add(pod, node)
            return
        for mine in self.groups.of(pod):  # another pod of the group may go in its place
            if self._for_group[mine]:
                heapq.heappush(self._ready, heapq.heappop(self._for_group[mine]))

    def _close(self) -> None:
        """End the wave; wake those for whom it has changed something."""
        waves = self.waves
        awake = [number for number in self._refused if waves.is_watching(self.moves[number][0])]
        still = set(self._refused) - set(awake)
        for node in {int(self._origin[pod]) for pod, _ in waves.wave}:
            awake += self._for_room.pop(node, ())
            awake += [number for number in still if self.moves[number][1] == node]
            still.difference_update(awake)
        self._refused = sorted(still)
        for group, waiting in self._for_group.items():
            awake += [heapq.heappop(waiting) for _ in range(min(self.groups.allowed[group], len(waiting)))]
        self._ready = sorted(awake + self._next)
        self._next = []
        waves.close()

    def _exchange(self) -> bool:
        """Where nothing else may move, let some pods leave before they arrive; wake all that are left."""
        made = {pod for pod, _ in self.waves.exchange_some(self.rest)} if self._may_exchange else set[int]()
        if made:
            done = {pod for wave in self.waves.done for pod, _ in wave}
            self._for_room.clear()
            self._for_group.clear()
            self._refused = []
            self._ready = [number for number, (pod, _) in enumerate(self.moves) if pod not in done]
        return bool(made)

    def _make_detours(self) -> bool:
        """Where moves wait for each other, let some end elsewhere: one from each node that others wait for."""
        if self._detours is None:
            return False
        final = self._final_room()
        found = False
        waiting = sorted(number for numbers in self._for_room.values() for number in numbers)
        waiting.sort(key=lambda number: self._size(self.moves[number][0]))
        freed: set[int] = set()
        for number in waiting:
            pod, goal = self.moves[number]
            origin = int(self._origin[pod])
            if origin in freed or not self._for_room.get(origin):
                continue
            node = self._third_node(pod, origin, goal, final)
            if node is not None:
                self._redirect(number, node, final)
                freed.add(origin)
                found = True
        return found

    def _size(self, pod: int) -> float:
        capacity = np.maximum(1, self.problem.columns.allocatable.mean(axis=1))
        return float((self.problem.request_of(pod) / capacity).max())

    def _final_room(self) -> IntArray:
        """Room on each node once all moves are made, int64[R, N]."""
        room = self.waves.now.placement.free().copy()
        for pod, node in self.rest:
            room[:, node] -= self.problem.request_of(pod)
            room[:, int(self._origin[pod])] += self.waves.now.placement.held_at(pod, int(self._origin[pod]))
        return room

    def _third_node(self, pod: int, origin: int, goal: int, final: IntArray) -> int | None:
        """The tightest node with room for a pod now and in the end; related pods stay on their way."""
        if self.problem.is_entangled(pod):
            return None
        assert self._detours is not None
        request = self.problem.request_of(pod)
        asked = np.flatnonzero(request)
        room = np.minimum(final, self.waves.now.placement.free())[asked]
        fits = self._detours & self.problem.static_mask(pod)[1] & (room >= request[asked, None]).all(axis=0)
        fits[[origin, goal]] = False
        nodes = np.flatnonzero(fits)
        if not len(nodes):
            return None
        capacity = np.maximum(1, self.problem.columns.allocatable.mean(axis=1))[asked]
        rest = ((room[:, nodes] - request[asked, None]) / capacity[:, None]).max(axis=0)
        return int(nodes[int(rest.argmin())])

    def _redirect(self, number: int, node: int, final: IntArray) -> None:
        pod, goal = self.moves[number]
        self._for_room[goal].remove(number)
        self.moves[number] = pod, node
        request = self.problem.request_of(pod)
        final[:, goal] += request
        final[:, node] -= request
        heapq.heappush(self._ready, number)
