"""Moves one pod after another to the node that its scheduler likes best, the largest gain first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.scheduler_score.estimates import estimated_gains

_LEAST_LOOKED_AT = 400
_LOOKED_AT_A_MOVE = 10


class Search:
    """Makes moves on a board; ``is_complete``: nothing was left out for want of time."""

    def __init__(self, board: Board, minimum_gain: float) -> None:
        """``minimum_gain``: points that each move must gain, what it costs aside."""
        self._board = board
        self._minimum_gain = minimum_gain
        self.is_complete = True

    def run(self, deadline: Deadline) -> int:
        """Move pods until none gains enough, the limits are reached, or time is over; how many were moved."""
        made = 0
        while self._board.evictions_left > 0:
            more = self._run_once(deadline)
            made += more
            if not more or not self.is_complete:
                break
        return made

    def _run_once(self, deadline: Deadline) -> int:
        board = self._board
        gains = estimated_gains(board.problem, board.placement, deadline.part(0.6))
        self.is_complete = self.is_complete and not deadline.is_over()
        order = np.argsort(-gains, kind="stable")
        rows = [row for row in order[gains[order] >= self._minimum_gain].tolist() if board.may_leave(row)]
        most = max(_LEAST_LOOKED_AT, _LOOKED_AT_A_MOVE * min(board.evictions_left, len(rows)))
        made = 0
        for first in range(0, len(rows), most):  # mostly the first part is enough
            part = rows[first : first + most]
            made += self._take_best([(-float(gains[row]), row) for row in part], deadline)
            if made or not self.is_complete:
                break
        return made

    def _take_best(self, queue: list[tuple[float, int]], deadline: Deadline) -> int:
        """Take pods as long as they gain enough; who gains less than thought waits for its turn."""
        heapq.heapify(queue)
        made = 0
        while queue and self._board.evictions_left > 0:
            if deadline.is_over():
                self.is_complete = False
                break
            _, row = heapq.heappop(queue)
            gain, node = self._best_move(row)
            if gain < self._minimum_gain:
                continue
            if queue and gain < -queue[0][0] - SAME:
                heapq.heappush(queue, (-gain, row))
                continue
            self._board.move(row, node)
            made += 1
        return made

    def _best_move(self, row: int) -> tuple[float, int]:
        """Points gained by the best node, and that node; minus infinity where the pod stays."""
        board = self._board
        if not board.may_leave(row):
            return -np.inf, -1
        lost = board.state.change(row)
        best = float(lost.min())
        nodes = _open(board, row, np.flatnonzero(lost <= best + SAME)) if best < 0 else ()
        fee = board.fee(row)
        return next(((-best, node) for node in nodes if -best > fee + SAME), (-np.inf, -1))


def _open(board: Board, row: int, nodes: IntArray) -> Iterable[int]:
    open_to = board.open_to(row)
    return (node for node in nodes.tolist() if open_to[node])
