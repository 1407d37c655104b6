"""Where pending pods that fit already will be put: the scheduler needs no plan for them, so its own choice is told."""

from __future__ import annotations

from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.problem import Problem
from rescheduler.planning.replay import replay
from rescheduler.scheduling.queue import queue_order


def as_the_scheduler_places(problem: Problem, schedule: Schedule, deadline: Deadline) -> Schedule:
    """The same pods, each on a node that the scheduler likes best, in the order of its queue.

    Where that leaves one of them without a place, or time is over, the planner's own places stay.
    """
    helped = {pod for pod, _, _ in schedule.places}
    placement = problem.start.copy()
    places: list[tuple[int, int, int]] = []
    for pod in queue_order(problem.columns.cluster):
        if pod in helped:
            best = problem.prediction.best_nodes(pod, placement)
            if not best.size or deadline.is_over():
                return schedule
            placement.assume(pod, int(best[0]))
            places.append((pod, int(best[0]), 0))
    followed = Schedule((), tuple(places))
    return schedule if replay(problem, followed) else followed
