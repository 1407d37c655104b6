"""Sends the pods of a finished plan where the scheduler likes them best, if that serves as well."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.waves.closing import close
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import waves_in_order


def to_schedulers_taste(
    problem: Problem, schedule: WaveSchedule, state_of: Callable[[], ObjectiveState], deadline: Deadline
) -> WaveSchedule:
    """The same pods in the same order, each to the node that its scheduler likes best among those that cost least.

    The schedule itself where the new one would cost more, take more waves, or not be allowed.
    """
    if schedule.evict_first:
        return schedule  # there is no room elsewhere
    placement, state, planned, order = problem.start.copy(), state_of(), state_of(), []
    for wave in schedule.waves:
        for pod, node in wave:
            row = problem.row_of_movable[pod]
            target = node if deadline.is_over() else _liked(problem, placement, pod, node, state.change(row))
            placement.move(pod, target)
            state.move(row, target)
            planned.move(row, node)
            order.append((pod, target))
        placement.settle()
    if state.cost > planned.cost or order == [move for wave in schedule.waves for move in wave]:
        return schedule
    waves = waves_in_order(problem, order)
    if waves is None or len(waves) > len(schedule.waves):
        return schedule
    found = WaveSchedule(tuple(waves))
    return schedule if replay(problem, found) else found


def _liked(problem: Problem, placement: Placement, pod: int, planned: int, change: FloatArray) -> int:
    """The scheduler's choice if only the nodes that cost least were open; the planned one where it likes it as well."""
    is_open = problem.prediction.feasible(pod, placement).copy()
    is_open[placement.node_of[pod]] = False
    if not is_open.any():
        return planned
    is_open &= change <= change[is_open].min()
    used = placement.used.copy()
    close(placement, np.flatnonzero(~is_open))
    try:
        best = problem.prediction.best_nodes(pod, placement).tolist()
    finally:
        placement.used[:] = used
    best = [node for node in best if is_open[node]]
    return planned if planned in best or not best else int(best[0])
