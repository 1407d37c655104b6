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
from rescheduler.planning.search.search_state import SAME, Board
from rescheduler.planning.waves.destinations import best_elsewhere

# The best single move of one pod: where it helps most, and which of the nodes that are as good.

NEARLY = 1e-3
"""Nodes whose gain is smaller by at most this share are as good."""


class Step(NamedTuple):
    """A pod, by its row, goes to a node; ``gain``: by how much the cost falls, the price of the move included."""

    row: int
    node: int
    gain: float


class Choice(Protocol):
    """How the destination of a pod is chosen; ``is_bound_to_prediction``: it is for the scheduler alone to choose."""

    is_bound_to_prediction: bool

    def best(self, board: Board, row: int) -> Step | None:
        """The best move of a pod that lowers the cost; None where there is none."""

    def settle(self, board: Board, step: Step) -> Step:
        """The same move to the node that is to be preferred among those as good."""


class Tightest(Choice):
    """With holds any node will do; ties go to the one with the least room left, so that large pods find room later."""

    is_bound_to_prediction = False

    def best(self, board: Board, row: int) -> Step | None:
        """See Choice."""
        nodes = board.open_to(row)
        return best_of(row, board.change(row), nodes) if nodes.any() else None

    def settle(self, board: Board, step: Step) -> Step:
        """See Choice."""
        change = np.where(board.open_to(step.row), board.change(step.row), np.inf)
        near = np.flatnonzero(change <= -step.gain + NEARLY * step.gain + SAME)
        if len(near) <= 1:
            return step
        capacity = np.maximum(1, board.problem.columns.allocatable[:2, near])
        node = int(near[np.argmin((board.free[:2, near] / capacity).min(axis=0))])
        return Step(step.row, node, -float(change[node]))


class Liked(Tightest):
    """Only nodes that the scheduler likes best with the pod's old node closed, and that gain as much as any."""

    def best(self, board: Board, row: int) -> Step | None:
        """See Choice."""
        step = super().best(board, row)
        if step is None:
            return None
        change = board.change(row)
        liked = best_elsewhere(board.problem, board.placement, board.pod(row))
        open_to = board.open_to(row)
        good = [node for node in liked if open_to[node] and change[node] <= -step.gain * (1.0 - NEARLY)]
        return Step(row, good[0], -float(change[good[0]])) if good else None

    def settle(self, board: Board, step: Step) -> Step:  # noqa: ARG002 - there is no choice
        """See Choice."""
        return step


class OnlyPredicted(Choice):
    """Without holds: only where the scheduler sends the pod by itself, its old node being open to it too."""

    is_bound_to_prediction = True

    def best(self, board: Board, row: int) -> Step | None:
        """See Choice."""
        if not (board.change(row)[board.roomy(row)] < -SAME).any():
            return None
        return predicted(board, row, board.placement)

    def settle(self, board: Board, step: Step) -> Step:  # noqa: ARG002 - there is no choice
        """See Choice."""
        return step


def predicted(board: Board, row: int, placement: Placement) -> Step | None:
    """Where the scheduler sends a pod by itself, nothing being held; None where that gains nothing, or is its own node.

    It draws lots between nodes that it likes equally, so that each must be an improvement.
    """
    liked = board.problem.prediction.best_nodes(board.pod(row), placement)
    if not len(liked) or not board.open_to(row)[liked].all():
        return None
    change = board.change(row)[liked]
    if not (change < -SAME).all():
        return None
    return Step(row, int(liked[int(np.argmin(change))]), -float(change.max()))


def best_of(row: int, change: FloatArray, nodes: BoolArray) -> Step | None:
    """The node with the largest gain, the first of equal ones; None where nothing is gained."""
    change = np.where(nodes, change, np.inf)
    node = int(np.argmin(change))
    return Step(row, node, -float(change[node])) if change[node] < -SAME else None


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
    board: Board, choice: Choice, deadline: Deadline, *, noise: Callable[[int], float] | None = None
) -> int:
    """Make single moves until none helps, the limits are reached or time is over; returns their number.

    ``noise``: factor by which a row's gain counts when moves are compared.
    """
    made = 0
    while board.evictions_left > 0 and not deadline.is_over():
        rows = board.state.promising()
        width = max(FEWEST_LOOKED_AT, LOOKED_AT_PER_MOVE * min(board.evictions_left, len(rows)))
        before = made
        for first in range(0, len(rows), width):
            made += _run(board, choice, rows[first : first + width], deadline, noise or (lambda _: 1.0))
            if made > before:
                break
        if made == before:
            break
    return made


def _run(board: Board, choice: Choice, rows: IntArray, deadline: Deadline, noise: Callable[[int], float]) -> int:
    """Look at these rows only, each judged anew when its turn comes."""
    queue = [(-_rank(board, row, gain) * noise(row), row) for row, gain in _hopes(board, rows, deadline)]
    heapq.heapify(queue)
    made = 0
    while queue and board.evictions_left > 0 and not deadline.is_over():
        _, row = heapq.heappop(queue)
        step = choice.best(board, row) if board.may_leave(row) else None
        if step is None:
            continue
        rank = -_rank(board, row, step.gain) * noise(row)
        if queue and rank > queue[0][0] + SAME:  # others promise more by now
            heapq.heappush(queue, (rank, row))
            continue
        step = choice.settle(board, step)
        board.move(step.row, step.node)
        made += 1
    return made


def _hopes(board: Board, rows: IntArray, deadline: Deadline) -> Iterator[tuple[int, float]]:
    """Rows with what their moves gain at most; those that gain nothing are left out."""
    hopes = board.state.hopes() if isinstance(board.state, HopefulState) else None
    for row in rows.tolist():
        if deadline.is_over():
            return
        if board.may_leave(row):
            gain = _hope(board, row) if hopes is None else float(hopes[row]) - board.fee(row)
            if gain > SAME:
                yield row, gain


def _hope(board: Board, row: int) -> float:
    """What a move gains at most: room and static filters only."""
    nodes = board.roomy(row)
    return -float(board.change(row)[nodes].min()) if nodes.any() else 0.0


def _rank(board: Board, row: int, gain: float) -> float:
    return gain * (1.0 - NEAR * board.weight(row))
