"""May this pod arrive there now? The filters' answer, by arithmetic where room is all that counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.problem import Problem


class Arrivals:
    """A working placement with the questions that planning asks of it."""

    def __init__(self, problem: Problem, placement: Placement | None = None, *, ignores_room: bool = False) -> None:
        """Begin with a copy of ``placement`` (None: the start). ``ignores_room``: ask the other filters only."""
        self.problem = problem
        self.ignores_room = ignores_room
        self.placement = (problem.start if placement is None else placement).copy()

    def copy(self) -> Arrivals:
        """An independent copy."""
        return Arrivals(self.problem, self.placement, ignores_room=self.ignores_room)

    def open_nodes(self, pod: int) -> BoolArray:
        """Nodes on which the pod may arrive now, bool[N]; its own present node is judged as if it had left."""
        if self.ignores_room:
            return ~self.problem.refused_by_others(pod, self.placement)
        if self.problem.is_entangled(pod):
            return self.problem.prediction.feasible(pod, self.placement)
        room = self.placement.free()
        for node in self.placement.places(pod):  # its own copies do not stand in its way
            room[:, node] += self.placement.held_at(pod, node)
        return self.problem.static_mask(pod)[1] & fits(self.problem.request_of(pod), room)

    def can_arrive(self, pod: int, node: int) -> bool:
        """Whether the pod may arrive on one node now."""
        if self.ignores_room:
            return bool(self.open_nodes(pod)[node])
        return self.has_room(pod, node) and self.others_allow(pod, node)

    def others_allow(self, pod: int, node: int) -> bool:
        """Whether the pod may arrive on a node that is open to it and has room for it, beside the pods there."""
        if self.ignores_room or self.problem.is_entangled(pod):
            if self.ignores_room or not self.problem.meetings.knows(pod):
                return bool(self.open_nodes(pod)[node])
            return self.problem.meetings.allow(pod, node, self.placement)
        return True

    def has_room(self, pod: int, node: int) -> bool:
        """Whether one node is open to the pod and has room for it now, where other pods are apart."""
        if not self.problem.static_mask(pod)[1][node]:
            return False
        request = self.problem.request_of(pod)
        placement = self.placement
        room = placement.columns.allocatable[:, node] - placement.used[:, node]
        if node in placement.places(pod):
            room = room + placement.held_at(pod, node)
        return bool(((request <= room) | (request == 0)).all())


# May these pods all leave before any of them arrives? The filters' answer for pods that change places.

Moves = Sequence[tuple[int, int]]
MOST_RELATED = 6
"""Pods that change places beside so many others that bear on them are judged; with more of them the answer is no."""


def exchange(placement: Placement, moves: Moves) -> None:
    """Let all pods leave, then all arrive."""
    for pod, _ in moves:
        placement.forget(pod)
    for pod, node in moves:
        placement.assume(pod, node)


def can_exchange(now: Arrivals, moves: Moves) -> bool:
    """Whether every pod may arrive, all others having left, in whatever order they come.

    Where room is concerned all others have come, too; related pods are judged with any of those on which they depend.
    Pods that stay until their replacements are Ready do not change places.
    """
    if any(now.placement.node_of[pod] == node or pod in now.problem.old_copies for pod, node in moves):
        return False
    if not now.ignores_room and not _all_find_room(now, moves):
        return False
    tangled = [pod for pod, _ in moves if now.problem.is_entangled(pod)]
    return not tangled or _all_get_on(now, moves, tangled)


def _all_find_room(now: Arrivals, moves: Moves) -> bool:
    """Whether the nodes are open to the pods, and have room for all that come once all have left that go."""
    problem, placement = now.problem, now.placement
    coming: dict[int, list[int]] = defaultdict(list)
    left: dict[int, IntArray] = {}
    for pod, node in moves:
        if not problem.static_mask(pod)[1][node]:
            return False
        coming[node].append(pod)
    for pod, _ in moves:
        origin = int(placement.node_of[pod])
        held = placement.held_at(pod, origin)
        left[origin] = left[origin] + held if origin in left else held
    for node, pods in coming.items():
        room = placement.columns.allocatable[:, node] - placement.used[:, node]
        asked = problem.requested(np.array(pods)).sum(axis=1)
        if node in left:
            room = room + left[node]
        if not ((asked <= room) | (asked == 0)).all():
            return False
    return True


def _all_get_on(now: Arrivals, moves: Moves, tangled: Sequence[int]) -> bool:
    """Whether related pods may arrive whichever of the others that they look at have come before them."""
    targets = dict(moves)
    absent = now.copy()
    for pod in targets:
        absent.placement.forget(pod)
    for pod in tangled:
        watched = [other for other in _watched(now, pod, targets) if other != pod]
        if len(watched) > MOST_RELATED:
            return False
        others = [other for other in targets if other not in watched and other != pod]
        for before in _subsets(watched):
            trial = absent.copy()
            for other in (*others, *before):
                trial.placement.assume(other, targets[other])
            if not trial.can_arrive(pod, targets[pod]):
                return False
    return True


def _watched(now: Arrivals, pod: int, targets: dict[int, int]) -> list[int]:
    bears_on = now.problem.entanglement.watched(pod)
    return [other for other in targets if np.isin(other, bears_on)]


def _subsets(pods: Sequence[int]) -> chain[tuple[int, ...]]:
    return chain.from_iterable(combinations(pods, number) for number in range(len(pods) + 1))
