"""Where pending pods that fit already will be put: the scheduler needs no plan for them, so its own choice is told."""

from __future__ import annotations

from rescheduler.model.placement import Placement
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.nominated_places import nominations
from rescheduler.planning.problem import Problem
from rescheduler.planning.replay import replay
from rescheduler.scheduling.queue import queue_order


def as_the_scheduler_places(problem: Problem, schedule: Schedule, deadline: Deadline) -> Schedule:
    """The same pods, each on a node that the scheduler likes best, in the order of its queue.

    Where that leaves one of them without a place, or time is over, the planner's own places stay.
    """
    helped = {pod for pod, _, _ in schedule.places}
    placement = problem.start.copy()
    nominated = nominations(placement)
    places: list[tuple[int, int, int]] = []
    for pod in queue_order(problem.columns.cluster):
        if pod in helped:
            best = _best_node(problem, placement, pod, nominated.get(pod))
            if best is None or deadline.is_over():
                return schedule
            placement.assume(pod, best)
            places.append((pod, best, 0))
    followed = Schedule((), tuple(places))
    return schedule if replay(problem, followed) else followed


def _best_node(problem: Problem, placement: Placement, pod: int, nominated: int | None) -> int | None:
    """The node that the scheduler takes: the one the pod is nominated to if it still can be."""
    if nominated is not None and problem.prediction.feasible(pod, placement)[nominated]:
        return nominated
    best = problem.prediction.best_nodes(pod, placement)
    return int(best[0]) if best.size else None
