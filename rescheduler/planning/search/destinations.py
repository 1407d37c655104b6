"""Lets the scheduler choose the destinations of a finished plan wherever its choice is as good as the planned one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.search.single_moves import NEARLY, Tightest
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice, send_in_waves
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

SHARES_THAT_STAY = (0.0, 0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Followed:
    """Waves, the moves (row, node) of the state that belong to them, what they cost, and how many need guidance."""

    schedule: WaveSchedule
    moves: tuple[tuple[int, int], ...]
    cost: float
    guided: int


def follow_the_scheduler(
    current: SearchState, groups: GroupsOfPods, planned: WaveSchedule, deadline: Deadline
) -> Followed:
    """Waves with the same pods, as few of them as possible sent where the scheduler would not.

    In each trial more of the largest pods keep their planned destination. A trial counts if all pods find a place and
    the gain is as good (but for NEARLY); with none the plan stays as it is. The state ends with what is returned.
    """
    before = list(current.moved.items())
    best = Followed(planned, tuple(before), current.cost, len(before))
    current.reset([])
    enough = best.cost + NEARLY * max(0.0, current.cost - best.cost) + SAME
    rows = [current.problem.row_of_movable[pod] for wave in planned.waves for pod, _ in wave]
    by_size = sorted(rows, key=lambda row: (-_size(current, row), row))
    for share in SHARES_THAT_STAY if rows else ():
        if deadline.is_over():
            break
        keeping = frozenset(by_size[: round(share * len(rows))])
        found = _trial(current, groups, rows, dict(before), keeping, deadline)
        if found is not None and found.cost <= enough and current.is_guarded:
            return found
        current.reset([])
    current.reset(before)
    return best


def _trial(
    current: SearchState,
    groups: GroupsOfPods,
    rows: list[int],
    planned: dict[int, int],
    keeping: frozenset[int],
    deadline: Deadline,
) -> Followed | None:
    problem, waves = current.problem, Waves(current.problem, groups)
    likes: dict[int, bool] = {}

    def chosen(pod: int) -> int:
        row = problem.row_of_movable[pod]
        liked = SchedulerChoice(problem, waves.now.placement).elsewhere(pod)
        node = _destination(current, row, liked, planned[row], is_kept=row in keeping)
        likes[pod] = node in liked
        return node

    def moved(pod: int, node: int) -> None:
        current.move(problem.row_of_movable[pod], node)

    if send_in_waves(waves, [current.pod(row) for row in rows], chosen, deadline, on_move=moved):
        return None
    guided = sum(not is_liked for is_liked in likes.values())
    return Followed(waves.schedule, tuple(current.moved.items()), current.cost, guided)


def _destination(current: SearchState, row: int, liked: list[int], planned: int, *, is_kept: bool) -> int:
    """Where a pod goes: where the scheduler likes if that is as good, else where it was to go, else where it can."""
    if is_kept:
        return planned
    change = current.change(row)
    wanted = min(float(change[planned]), -SAME)
    enough = wanted * (1.0 - NEARLY) if np.isfinite(wanted) else -SAME
    good = [node for node in liked if change[node] <= enough]
    if planned in good or (not good and change[planned] <= enough):
        return planned
    if good:
        return good[0]
    step = Tightest().best(current, row)  # others have taken its place
    return planned if step is None else Tightest().settle(current, step).node


def _size(current: SearchState, row: int) -> float:
    capacity = np.maximum(1, current.problem.columns.allocatable.mean(axis=1))
    return float((current.problem.requests[:, row] / capacity).max())


# Gives single moves of a finished plan to the scheduler's own choice, wherever the end is as good with it.


def choose_again(current: SearchState, groups: GroupsOfPods, plan: Followed, deadline: Deadline) -> Followed:
    """The same pods in the same waves, move by move to a node that the scheduler likes if the cost stays what it is.

    All other moves are taken as planned while one is looked at, so that none of them loses its room. The state ends
    with what is returned.
    """
    current.reset(plan.moves)
    waves, guided = Waves(current.problem, groups), 0
    chosen: list[tuple[int, int]] = []
    for wave in plan.schedule.waves:
        for pod, planned in wave:
            row = current.problem.row_of_movable[pod]
            liked = [] if deadline.is_over() else SchedulerChoice(current.problem, waves.now.placement).elsewhere(pod)
            node = planned if planned in liked else _as_good(current, row, planned, liked)
            if node != planned and not waves.try_move(pod, node):
                _send(current, row, planned)
                node = planned
            if node == planned and not waves.try_move(pod, planned):
                current.reset(plan.moves)
                return plan
            guided += node not in liked
            chosen.append((row, node))
        waves.close()
    current.reset(chosen)
    return Followed(waves.schedule, tuple(chosen), current.cost, guided)


def _as_good(current: SearchState, row: int, planned: int, liked: list[int]) -> int:
    """A node that the scheduler likes and that is as good for a pod in the end, where the search state then has it.

    Costs are compared, not changes: one to the planned node may be infinite where pods changed places.
    """
    if not liked:
        return planned
    enough = current.cost + SAME
    current.undo(row)
    cost = current.cost + current.change(row)
    open_to = current.open_to(row)
    good = [node for node in liked if open_to[node] and cost[node] <= enough]
    node = good[0] if good else planned
    current.move(row, node)
    return node


def _send(current: SearchState, row: int, node: int) -> None:
    current.undo(row)
    current.move(row, node)
