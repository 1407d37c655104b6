"""Sends pods where the scheduler would send them by itself, wherever the room that was made does not suffer."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.planning.closing import close
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import best_elsewhere
from rescheduler.planning.draft import Schedule
from rescheduler.planning.improvement.arranging import arrange
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.waves import GroupsOfPods

_MOST_TRIED = 3


def following_the_scheduler(board: Board, schedule: Schedule, closes: Sequence[int], deadline: Deadline) -> Schedule:
    """The same pods moved, worth no less, to other nodes if the scheduler likes these better while ``closes`` are held.

    The moves stand on the board before and after. Where the new destinations find no order the old ones stay; so they
    do where pods leave before they arrive, since there is no room elsewhere then.
    """
    if schedule.evict_first:
        return schedule
    kept, cost = list(board.moved.items()), board.cost
    problem = board.problem
    placement = problem.start.copy()
    close(placement, closes)
    for wave in schedule.waves:
        for pod, node in wave:
            target = node
            best = [] if deadline.is_over() else best_elsewhere(problem, placement, pod)
            if best and node not in best:
                row = problem.row_of_movable[pod]
                target = next((other for other in best[:_MOST_TRIED] if _goes_as_well(board, row, other)), node)
            placement.move(pod, target)
        placement.settle()
    if dict(kept) == board.moved:
        return schedule
    found, _ = arrange(board, GroupsOfPods(problem), deadline, only_predicted=False)
    if board.cost <= cost + SAME and len(board.moved) <= len(kept) and not found.evict_first:
        return found
    board.reset(kept)
    return schedule


def _goes_as_well(board: Board, row: int, other: int) -> bool:
    """Move a pod elsewhere than it was, if it may and nothing is lost by it."""
    cost, node = board.cost, board.moved[row]
    board.undo(row)
    if board.open_to(row)[other]:
        board.move(row, other)
        if board.cost <= cost + SAME:
            return True
        board.undo(row)
    board.move(row, node)
    return False
