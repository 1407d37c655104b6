"""Gives single moves of a finished plan to the scheduler's own choice, wherever the end is as good with it."""

from __future__ import annotations

from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import best_elsewhere
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.improvement.following import Followed
from rescheduler.planning.waves import GroupsOfPods, Waves


def choose_again(board: Board, groups: GroupsOfPods, plan: Followed, deadline: Deadline) -> Followed:
    """The same pods in the same waves, move by move to a node that the scheduler likes if the cost stays what it is.

    All other moves are taken as planned while one is looked at, so that none of them loses its room. The board ends
    with what is returned.
    """
    board.reset(plan.moves)
    waves, guided = Waves(board.problem, groups), 0
    chosen: list[tuple[int, int]] = []
    for wave in plan.schedule.waves:
        for pod, planned in wave:
            row = board.problem.row_of_movable[pod]
            liked = [] if deadline.is_over() else best_elsewhere(board.problem, waves.now.placement, pod)
            node = planned if planned in liked else _as_good(board, row, planned, liked)
            if node != planned and not waves.try_move(pod, node):
                _send(board, row, planned)
                node = planned
            if node == planned and not waves.try_move(pod, planned):
                board.reset(plan.moves)
                return plan
            guided += node not in liked
            chosen.append((row, node))
        waves.close()
    board.reset(chosen)
    return Followed(waves.schedule, tuple(chosen), board.cost, guided)


def _as_good(board: Board, row: int, planned: int, liked: list[int]) -> int:
    """A node that the scheduler likes and that is as good for a pod in the end, where the board then has it."""
    if not liked:
        return planned
    board.undo(row)
    change = board.change(row)
    open_to = board.open_to(row)
    good = [node for node in liked if open_to[node] and change[node] <= change[planned] + SAME]
    node = good[0] if good else planned
    board.move(row, node)
    return node


def _send(board: Board, row: int, node: int) -> None:
    board.undo(row)
    board.move(row, node)
