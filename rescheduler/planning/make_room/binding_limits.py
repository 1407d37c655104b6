"""Which limits of the plan keep it from helping more: found by planning once more without them."""

from __future__ import annotations

from dataclasses import dataclass

from rescheduler.model.disruption import MoveLimits
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.make_room.by_worth import search_for
from rescheduler.planning.make_room.opening import open_problem
from rescheduler.planning.make_room.request import MakeRoomRequest
from rescheduler.planning.make_room.search import Outcome
from rescheduler.planning.problem import Problem
from rescheduler.planning.ranking import helped_by
from rescheduler.planning.replay import violated_limits


@dataclass(frozen=True)
class BindingLimits:
    """Names of the limits that bind, with their values, and what a plan without them would reach."""

    names: tuple[str, ...] = ()
    helped: int = 0
    evictions: int = 0


def find_binding_limits(
    request: MakeRoomRequest, whole: Problem, outcome: Outcome, schedule: Schedule, deadline: Deadline
) -> BindingLimits:
    """Limits without which more pods would be helped; empty if there are none, or if time is over."""
    limits = request.eligibility.limits
    certificate = outcome.certificate
    is_final = certificate is not None and certificate.helpable <= len(schedule.places)
    if limits == MoveLimits() or is_final or deadline.is_over():
        return BindingLimits()
    problem = open_problem(request, limits=MoveLimits())
    better = search_for(problem, request, deadline, limits=MoveLimits()).outcome.best
    if helped_by(problem, better) <= helped_by(problem, schedule):
        return BindingLimits()
    names = violated_limits(whole, better)
    return BindingLimits(tuple(names), len(better.places), better.evictions)
