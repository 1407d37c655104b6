"""Moves pods one by one, always the one that helps most, as long as any helps."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice

# The best single move of one pod: where it helps most, and which of the nodes that are as good.

NEARLY = 1e-3
"""Nodes whose gain is smaller by at most this share are as good."""


class SingleMove(NamedTuple):
    """A pod, by its row, goes to a node; ``gain``: by how much the cost falls, the price of the move included."""

    row: int
    node: int
    gain: float


class DestinationChoice(Protocol):
    """How the destination of a pod is chosen; ``is_bound_to_prediction``: it is for the scheduler alone to choose."""

    is_bound_to_prediction: bool

    def best(self, current: SearchState, row: int) -> SingleMove | None:
        """The best move of a pod that lowers the cost; None where there is none."""

    def settle(self, current: SearchState, step: SingleMove) -> SingleMove:
        """The same move to the node that is to be preferred among those as good."""


class Tightest(DestinationChoice):
    """With holds any node will do; ties go to the one with the least room left, so that large pods find room later."""

    is_bound_to_prediction = False

    def best(self, current: SearchState, row: int) -> SingleMove | None:
        """See DestinationChoice."""
        nodes = current.open_to(row)
        return best_of(row, current.change(row), nodes) if nodes.any() else None

    def settle(self, current: SearchState, step: SingleMove) -> SingleMove:
        """See DestinationChoice."""
        change = np.where(current.open_to(step.row), current.change(step.row), np.inf)
        near = np.flatnonzero(change <= -step.gain + NEARLY * step.gain + SAME)
        if len(near) <= 1:
            return step
        capacity = np.maximum(1, current.problem.columns.allocatable[:2, near])
        node = int(near[np.argmin((current.free[:2, near] / capacity).min(axis=0))])
        return SingleMove(step.row, node, -float(change[node]))


class Liked(Tightest):
    """Only nodes that the scheduler likes best with the pod's old node closed, and that gain as much as any."""

    def best(self, current: SearchState, row: int) -> SingleMove | None:
        """See DestinationChoice."""
        step = super().best(current, row)
        if step is None:
            return None
        change = current.change(row)
        liked = SchedulerChoice(current.problem, current.placement).elsewhere(current.pod(row))
        open_to = current.open_to(row)
        good = [node for node in liked if open_to[node] and change[node] <= -step.gain * (1.0 - NEARLY)]
        return SingleMove(row, good[0], -float(change[good[0]])) if good else None

    def settle(self, current: SearchState, step: SingleMove) -> SingleMove:  # noqa: ARG002 - there is no choice
        """See DestinationChoice."""
        return step


class OnlyPredicted(DestinationChoice):
    """Without holds: only where the scheduler sends the pod by itself, its old node being open to it too."""

    is_bound_to_prediction = True

    def best(self, current: SearchState, row: int) -> SingleMove | None:
        """See DestinationChoice."""
        if not (current.change(row)[current.roomy(row)] < -SAME).any():
            return None
        return predicted(current, row, current.placement)

    def settle(self, current: SearchState, step: SingleMove) -> SingleMove:  # noqa: ARG002 - there is no choice
        """See DestinationChoice."""
        return step


def predicted(current: SearchState, row: int, placement: Placement) -> SingleMove | None:
    """Where the scheduler sends a pod by itself, nothing being held; None where that gains nothing, or is its own node.

    It draws lots between nodes that it likes equally, so that each must be an improvement.
    """
    liked = SchedulerChoice(current.problem, placement).best(current.pod(row))
    if not liked or not current.open_to(row)[liked].all():
        return None
    change = current.change(row)[liked]
    if not (change < -SAME).all():
        return None
    return SingleMove(row, int(liked[int(np.argmin(change))]), -float(change.max()))


def best_of(row: int, change: FloatArray, nodes: BoolArray) -> SingleMove | None:
    """The node with the largest gain, the first of equal ones; None where nothing is gained."""
    change = np.where(nodes, change, np.inf)
    node = int(np.argmin(change))
    return SingleMove(row, node, -float(change[node])) if change[node] < -SAME else None


NEAR = 0.02
"""Of two moves whose gains differ by less than this share, the cheaper pod's may come first."""
FEWEST_LOOKED_AT = 400
LOOKED_AT_PER_MOVE = 8


@runtime_checkable
class HopefulState(Protocol):
    """An objective that knows for all pods at once what moving them gains at most."""

    def hopes(self) -> FloatArray:
        """At most by how much the cost falls if one pod moves, whatever its destination, float64[M]."""


def move_one_by_one(
    current: SearchState, choice: DestinationChoice, deadline: Deadline, *, noise: Callable[[int], float] | None = None
) -> int:
    """Make single moves until none helps, the limits are reached or time is over; returns their number.

    ``noise``: factor by which a row's gain counts when moves are compared.
    """
    made = 0
    while current.evictions_left > 0 and not deadline.is_over():
        rows = current.state.promising()
        width = max(FEWEST_LOOKED_AT, LOOKED_AT_PER_MOVE * min(current.evictions_left, len(rows)))
        before = made
        for first in range(0, len(rows), width):
            made += _run(current, choice, rows[first : first + width], deadline, noise or (lambda _: 1.0))
            if made > before:
                break
        if made == before:
            break
    return made


def first_gains(current: SearchState, choice: DestinationChoice, deadline: Deadline) -> None:
    """The simple rule: pods that could gain, the most promising first, go one after the other where each gains most.

    Each is looked at once, and none before the one in turn: the moves so far are worth something whenever time is over.
    """
    for row in current.state.promising().tolist():
        if current.evictions_left <= 0 or deadline.is_over():
            return
        step = choice.best(current, row) if current.may_leave(row) else None
        if step is not None:
            current.move(step.row, step.node)


def _run(
    current: SearchState, choice: DestinationChoice, rows: IntArray, deadline: Deadline, noise: Callable[[int], float]
) -> int:
    """Look at these rows only, each judged anew when its turn comes."""
    queue = [(-_rank(current, row, gain) * noise(row), row) for row, gain in _hopes(current, rows, deadline)]
    heapq.heapify(queue)
    made = 0
    while queue and current.evictions_left > 0 and not deadline.is_over():
        _, row = heapq.heappop(queue)
        step = choice.best(current, row) if current.may_leave(row) else None
        if step is None:
            continue
        rank = -_rank(current, row, step.gain) * noise(row)
        if queue and rank > queue[0][0] + SAME:  # others promise more by now
            heapq.heappush(queue, (rank, row))
            continue
        step = choice.settle(current, step)
        current.move(step.row, step.node)
        made += 1
    return made


def _hopes(current: SearchState, rows: IntArray, deadline: Deadline) -> Iterator[tuple[int, float]]:
    """Rows with what their moves gain at most; those that gain nothing are left out."""
    hopes = current.state.hopes() if isinstance(current.state, HopefulState) else None
    for row in rows.tolist():
        if deadline.is_over():
            return
        if current.may_leave(row):
            gain = _hope(current, row) if hopes is None else float(hopes[row]) - current.fee(row)
            if gain > SAME:
                yield row, gain


def _hope(current: SearchState, row: int) -> float:
    """What a move gains at most: room and static filters only."""
    nodes = current.roomy(row)
    return -float(current.change(row)[nodes].min()) if nodes.any() else 0.0


def _rank(current: SearchState, row: int, gain: float) -> float:
    return gain * (1.0 - NEAR * current.weight(row))
