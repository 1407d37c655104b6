"""Where kube-scheduler would send moved pods by itself: the one place where plans ask for its choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.waves import Waves

# Closes nodes to arrivals, as the placeholders do that hold them.

FULL = 2**50


def close(placement: Placement, nodes: Iterable[int]) -> None:
    """Leave no room on these nodes."""
    placement.used[:, list(nodes)] += FULL


_MOST_LIKED = 16
NOTHING_RESERVED: Mapping[int, int] = MappingProxyType({})


class SchedulerChoice:
    """The scheduler's choice for pods on a placement, which is as the scheduler sees it: what is held is closed there.

    ``placement``: follows the moves that are sent.
    """

    def __init__(self, problem: Problem, placement: Placement) -> None:
        """Nothing is asked yet."""
        self.placement = placement
        self._prediction = problem.prediction
        self._requests = problem.columns.requests
        self._shape_of = problem.columns.shape_of
        self._liked: dict[int, None] = {}

    def best(self, pod: int) -> list[int]:
        """Nodes that it likes best for a pod, the pod's own among them where it is."""
        found: list[int] = self._prediction.best_nodes(pod, self.placement).tolist()
        return found

    def elsewhere(self, pod: int) -> list[int]:
        """Nodes that it likes best for a pod whose own node is closed to it."""
        origin = int(self.placement.node_of[pod])
        kept = self.placement.used[:, origin].copy()
        close(self.placement, (origin,))
        try:
            best = self.best(pod)
        finally:
            self.placement.used[:, origin] = kept
        return [node for node in best if node != origin]

    def is_liked(self, pod: int, node: int) -> bool:
        """Whether a node is among those that it likes best for a pod whose own node is closed to it.

        Most are not where plans pack nodes that the scheduler would spread over: what it liked best for other pods of
        late mostly tells that at once.
        """
        here = self.placement.places(pod)
        if self._prediction.is_outdone(pod, node, [n for n in self._liked if n not in here], self.placement):
            return False
        best = self.elsewhere(pod)
        for liked in best[:1]:
            self._liked.pop(liked, None)
            self._liked[liked] = None
            if len(self._liked) > _MOST_LIKED:
                del self._liked[next(iter(self._liked))]
        return node in best

    def among(self, pod: int, is_open: BoolArray) -> list[int]:
        """Nodes that it likes best for a pod if only these were open, bool[N]."""
        used = self.placement.used.copy()
        close(self.placement, np.flatnonzero(~is_open))
        try:
            best = self.best(pod)
        finally:
            self.placement.used[:] = used
        return [node for node in best if is_open[node]]

    def walk(self, schedule: WaveSchedule) -> Iterator[tuple[int, int]]:
        """Moves in their order, pod and planned node; each is to be sent before the next. Waves end in between."""
        for wave in schedule.waves:
            yield from wave
            self.placement.settle()

    def send(self, pod: int, node: int) -> tuple[int, int]:
        """The pod goes there."""
        self.placement.move(pod, node)
        return pod, node

    def reserve(self, pod: int, node: int, sign: int = 1) -> None:
        """Keep room for a pod on a node, or with ``sign`` -1 give it up."""
        self.placement.used[:, node] += sign * self._requests[:, self._shape_of[pod]]


def guided_moves(
    problem: Problem,
    placement: Placement,
    schedule: WaveSchedule,
    deadline: Deadline,
    reserved: Mapping[int, int] = NOTHING_RESERVED,
) -> frozenset[int]:
    """Pods sent to nodes that are not among those the scheduler likes best; when time is over, all that are left.

    Pods that leave before they arrive always count.
    ``placement``: the start with what is held closed; it follows the moves while there is time. ``reserved``: pods for
    which room is reserved there on their nodes, given up when their turn comes.
    """
    choice, liked = SchedulerChoice(problem, placement), set[int]()
    exchanged = {pod for number in schedule.evict_first for pod, _ in schedule.waves[number - 1]}
    for pod, node in choice.walk(schedule):
        if deadline.is_over():
            break
        if pod in reserved:
            choice.reserve(pod, node, -1)
        if pod not in exchanged and choice.is_liked(pod, node):
            liked.add(pod)
        choice.send(pod, node)
    return frozenset(pod for wave in schedule.waves for pod, _ in wave if pod not in liked)


def send_in_waves(
    waves: Waves,
    pods: Sequence[int],
    choose: Callable[[int], int | None],
    deadline: Deadline | None = None,
    *,
    on_move: Callable[[int, int], None] | None = None,
) -> Sequence[int]:
    """Let pods leave wave after wave, each to the node that is chosen when it may leave; those that find no order.

    ``choose``: the node of a pod as things stand, None where it stays. Without ``on_move`` the first pod that cannot go
    ends it all; with it, that pod waits for the next wave, and each move is told.
    """
    rest = list(pods)
    while rest and not (deadline is not None and deadline.is_over()):
        waiting = []
        for pod in rest:
            if (deadline is not None and deadline.is_over()) or not waves.may_leave(pod):
                waiting.append(pod)
                continue
            node = choose(pod)
            if node is not None and waves.try_move(pod, node):
                if on_move is not None:
                    on_move(pod, node)
            elif on_move is None:
                return rest
            else:
                waiting.append(pod)
        if not waves.close():
            break
        rest = waiting
    return rest
