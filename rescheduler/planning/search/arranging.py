"""Turns the moves on a board into waves; what finds no order, or would not come about, is taken back."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Schedule
from rescheduler.planning.search.search_state import SAME, Board
from rescheduler.planning.search.single_moves import predicted
from rescheduler.planning.waves.wave_packing import as_far_as_possible, packed
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

_MOST_ROUNDS = 20


def arrange(board: Board, groups: GroupsOfPods, deadline: Deadline, *, only_predicted: bool) -> tuple[Schedule, int]:
    """Waves for the moves of a board, and how many moves had to be taken back; the board keeps what is in the waves.

    ``only_predicted``: the scheduler must choose each destination by itself, with nothing held.
    """
    before = len(board.moved)
    for _ in range(_MOST_ROUNDS):
        schedule = (_by_themselves if only_predicted else _packed)(board, groups, deadline)
        fewer = _keep(board, {pod for wave in schedule.waves for pod, _ in wave})
        if not take_back_what_does_not_pay(board) and (only_predicted or not fewer):
            if not board.is_guarded:
                break
            return schedule, before - len(board.moved)
    board.reset([])
    return Schedule(), before


def try_other(board: Board, groups: GroupsOfPods, moves: Sequence[tuple[int, int]], deadline: Deadline) -> None:
    """Leave other moves (row, node) on the board if they keep the limits, have an order and cost less, else its own."""
    own, cost = list(board.moved.items()), (board.cost, len(board.moved))
    board.reset([])
    for row, node in moves:
        if board.may_leave(row):
            board.move(row, node)
    arrange(board, groups, deadline, only_predicted=False)
    is_better = board.cost < cost[0] - SAME or (board.cost <= cost[0] + SAME and len(board.moved) < cost[1])
    if not is_better:
        board.reset(own)


def take_back_what_does_not_pay(board: Board) -> bool:
    """Bring home every pod whose move does not lower the cost by more than its price, the latest first."""
    found = False
    for row in reversed(list(board.moved)):
        home = int(board.problem.origin[row])
        if board.state.change(row)[home] <= board.fee(row) + SAME and board.can_return(row):
            board.undo(row)
            found = True
    return found


def _packed(board: Board, groups: GroupsOfPods, deadline: Deadline) -> Schedule:
    order = [(board.pod(row), node) for row, node in board.moved.items()]
    schedule = packed(board.problem, groups, order, deadline)
    if schedule is not None:
        return schedule
    waves, _ = as_far_as_possible(board.problem, groups, order, deadline, may_exchange=True)
    waves.close()
    return waves.schedule


def _keep(board: Board, pods: set[int]) -> bool:
    """Take back the moves of all other pods, the latest first; whether there were any."""
    others = [row for row in board.moved if board.pod(row) not in pods]
    for row in reversed(others):
        board.undo(row)
    return bool(others)


def _by_themselves(board: Board, groups: GroupsOfPods, deadline: Deadline) -> Schedule:
    """Waves in which the scheduler, with nothing held, sends every pod to a node that gains; the board moves along.

    It may choose other nodes than on the board, since pods of one wave hold both their nodes until it is over.
    """
    rest = list(board.moved)
    board.reset([])
    waves = Waves(board.problem, groups)
    while rest and not deadline.is_over():
        waiting = []
        for row in rest:
            pod = board.pod(row)
            step = (
                None if deadline.is_over() or not waves.may_leave(pod) else predicted(board, row, waves.now.placement)
            )
            if step is None or not waves.try_move(pod, step.node):
                waiting.append(row)
            else:
                board.move(row, step.node)
        if not waves.close():
            break
        rest = waiting
    return waves.schedule
