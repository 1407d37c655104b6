"""Chooses between what the scheduler does by itself with the pods of emptied nodes and the planner's own seats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.planning.closing import close
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import guided_moves
from rescheduler.planning.draft import Schedule
from rescheduler.planning.empty_nodes.following import followed
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.replay import replay
from rescheduler.planning.waves import GroupsOfPods

_PACKED_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
_MOST_FOLLOWED = 20_000
_MOST_REPLAYED = 2_000


def with_destinations(
    situation: Situation, groups: GroupsOfPods, found: Solution, deadline: Deadline, *, closes_empty: bool
) -> Solution:
    """The same nodes emptied with as few guided moves as a few trials give; the moves that need guidance are marked.

    In each trial the largest pods keep their seats, more of them each time, and the scheduler chooses for the others.
    """
    if not found.emptied:
        return Solution()
    is_closed = np.zeros(situation.node_count, dtype=np.bool_)
    is_closed[list(found.emptied)] = True
    if closes_empty:
        is_closed |= situation.is_empty
    if found.evictions <= _MOST_FOLLOWED:
        for share in _PACKED_SHARES:
            trial = _trial(situation, groups, found, is_closed, share, deadline.part(0.3))
            if trial is not None:
                return trial
    return replace(found, guided=_guided(situation, found.schedule, is_closed, deadline))


def _trial(
    situation: Situation, groups: GroupsOfPods, found: Solution, is_closed: BoolArray, share: float, deadline: Deadline
) -> Solution | None:
    seats = found.schedule.draft.moves
    pods = _largest_first(situation, [pod for pod in seats if is_closed[situation.start.node_of[pod]]])
    displaced = [pod for pod in seats if not is_closed[situation.start.node_of[pod]]]
    if share and displaced:  # whose seats depend on each other's
        return None
    packed = {pod: seats[pod] for pod in pods[: round(share * len(pods))]}
    schedule = followed(situation, groups, pods, is_closed, packed, deadline)
    if schedule is None or not keeps_limits(situation, schedule):
        return None
    trial = solution_of(situation, schedule)
    if trial.value < found.value or (trial.evictions <= _MOST_REPLAYED and replay(situation.problem, schedule)):
        return None
    if not packed:
        return trial
    return replace(trial, guided=_guided(situation, schedule, is_closed, deadline))


def _guided(situation: Situation, schedule: Schedule, is_closed: BoolArray, deadline: Deadline) -> frozenset[int]:
    placement = situation.start.copy()
    close(placement, np.flatnonzero(is_closed))
    return guided_moves(situation.problem, placement, schedule, deadline)


def _largest_first(situation: Situation, pods: list[int]) -> list[int]:
    problem = situation.problem
    capacity = np.maximum(1, problem.columns.allocatable.mean(axis=1))
    size = {pod: float((problem.request_of(pod) / capacity).max()) for pod in pods}
    return sorted(pods, key=lambda pod: (not problem.is_entangled(pod), -size[pod], pod))
