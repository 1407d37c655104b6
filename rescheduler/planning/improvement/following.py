"""Lets the scheduler choose the destinations of a finished plan wherever its choice is as good as the planned one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import best_elsewhere
from rescheduler.planning.draft import Schedule
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.improvement.choosing import NEARLY, Tightest
from rescheduler.planning.waves import GroupsOfPods, Waves

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
