"""Moves pods one by one, always the one that helps most, as long as any helps."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

from rescheduler.model.arrays import IntArray
from rescheduler.model.usage import FloatArray
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.improvement.choosing import Choice

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
