"""Lets the scheduler choose the destinations of a finished plan wherever its choice is as good as the planned one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Schedule
from rescheduler.planning.search.search_state import SAME, Board
from rescheduler.planning.search.single_moves import NEARLY, Tightest
from rescheduler.planning.waves.destinations import best_elsewhere
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

SHARES_THAT_STAY = (0.0, 0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Followed:
    """Waves, the moves (row, node) of the board that belong to them, what they cost, and how many need guidance."""

    schedule: Schedule
    moves: tuple[tuple[int, int], ...]
    cost: float
    guided: int


def follow_the_scheduler(board: Board, groups: GroupsOfPods, planned: Schedule, deadline: Deadline) -> Followed:
    """Waves with the same pods, as few of them as possible sent where the scheduler would not.

    In each trial more of the largest pods keep their planned destination. A trial counts if all pods find a place and
    the gain is as good (but for NEARLY); with none the plan stays as it is. The board ends with what is returned.
    """
    before = list(board.moved.items())
    best = Followed(planned, tuple(before), board.cost, len(before))
    board.reset([])
    enough = best.cost + NEARLY * max(0.0, board.cost - best.cost) + SAME
    rows = [board.problem.row_of_movable[pod] for wave in planned.waves for pod, _ in wave]
    by_size = sorted(rows, key=lambda row: (-_size(board, row), row))
    for share in SHARES_THAT_STAY if rows else ():
        if deadline.is_over():
            break
        keeping = frozenset(by_size[: round(share * len(rows))])
        found = _trial(board, groups, rows, dict(before), keeping, deadline)
        if found is not None and found.cost <= enough and board.is_guarded:
            return found
        board.reset([])
    board.reset(before)
    return best


def _trial(
    board: Board,
    groups: GroupsOfPods,
    rows: list[int],
    planned: dict[int, int],
    keeping: frozenset[int],
    deadline: Deadline,
) -> Followed | None:
    waves = Waves(board.problem, groups)
    rest, guided = rows, 0
    while rest:
        waiting = []
        for row in rest:
            if deadline.is_over():
                return None
            liked = _liked(board, waves, row)
            node = None if liked is None else _destination(board, row, liked, planned[row], is_kept=row in keeping)
            if node is None or not waves.try_move(board.pod(row), node):
                waiting.append(row)
            else:
                guided += node not in (liked or ())
                board.move(row, node)
        if not waves.close():
            return None
        rest = waiting
    return Followed(waves.schedule, tuple(board.moved.items()), board.cost, guided)


def _liked(board: Board, waves: Waves, row: int) -> list[int] | None:
    """Where the scheduler would send a pod; None if it may not leave in the present wave."""
    pod = board.pod(row)
    return best_elsewhere(board.problem, waves.now.placement, pod) if waves.may_leave(pod) else None


def _destination(board: Board, row: int, liked: list[int], planned: int, *, is_kept: bool) -> int:
    """Where a pod goes: where the scheduler likes if that is as good, else where it was to go, else where it can."""
    if is_kept:
        return planned
    change = board.change(row)
    wanted = min(float(change[planned]), -SAME)
    enough = wanted * (1.0 - NEARLY) if np.isfinite(wanted) else -SAME
    good = [node for node in liked if change[node] <= enough]
    if planned in good or (not good and change[planned] <= enough):
        return planned
    if good:
        return good[0]
    step = Tightest().best(board, row)  # others have taken its place
    return planned if step is None else Tightest().settle(board, step).node


def _size(board: Board, row: int) -> float:
    capacity = np.maximum(1, board.problem.columns.allocatable.mean(axis=1))
    return float((board.problem.requests[:, row] / capacity).max())


# Gives single moves of a finished plan to the scheduler's own choice, wherever the end is as good with it.


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
