"""Room for shapes by moves that the scheduler makes by itself, with nothing held: each pod goes where it is sent."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.defragment.options import Option, Options
from rescheduler.planning.defragment.situation import Situation
from rescheduler.planning.draft import Schedule
from rescheduler.planning.improvement.arranging import arrange
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.waves import GroupsOfPods

_MOST_ROUNDS = 3
_MOST_TARGETS = 300


class Unguided:
    """Tries one option of a node after another, the most gain for each eviction first."""

    def __init__(self, situation: Situation, board: Board) -> None:
        """Begin with what stands on the board."""
        self._situation = situation
        self._board = board

    def run(self, deadline: Deadline) -> Schedule:
        """The moves that pay and come about; they stand on the board."""
        for _ in range(_MOST_ROUNDS):
            before = self._board.cost
            for option in self._options(deadline.part(0.5)):
                if deadline.is_over():
                    break
                self._try(option)
            if self._board.cost >= before - SAME:
                break
        schedule, _ = arrange(self._board, GroupsOfPods(self._situation.problem), deadline, only_predicted=True)
        return schedule

    def _options(self, deadline: Deadline) -> list[Option]:
        situation, board = self._situation, self._board
        spent = np.array(list(board.moved), dtype=np.int64)
        may_leave = np.ones(len(situation.problem.movable), dtype=np.bool_)
        may_leave[spent] = False
        options = Options(situation, board.free, may_leave, spent)
        found = list(options.covering(self._cost, _MOST_TARGETS, deadline)) if options.most_moves > 0 else []
        return sorted(found, key=lambda option: (-option.gain / option.moves, option.node, option.rows))

    def _cost(self, rows: IntArray) -> IntArray:
        return self._situation.problem.eviction_cost(rows)

    def _try(self, option: Option) -> None:
        board = self._board
        before = board.cost
        moved: list[int] = []
        for row in option.rows:
            node = self._destination(row)
            if node is None:
                break
            board.move(row, node)
            moved.append(row)
        if len(moved) < option.moves or board.cost >= before - SAME:
            for row in reversed(moved):
                board.undo(row)

    def _destination(self, row: int) -> int | None:
        """Where the scheduler sends a pod, the least harmful of equal nodes; None if it may come back."""
        board = self._board
        if not board.may_leave(row):
            return None
        best = self._situation.problem.prediction.best_nodes(board.pod(row), board.placement)
        if not len(best) or self._situation.problem.origin[row] in best:
            return None
        best = best[board.open_to(row)[best]]
        return int(best[np.argmin(board.state.change(row)[best])]) if len(best) else None
