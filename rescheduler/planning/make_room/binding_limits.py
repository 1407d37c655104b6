"""Which limits of the plan keep it from helping more: found by planning once more without them."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from rescheduler.model.disruption import MoveLimits
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.make_room.request import MakeRoomRequest
from rescheduler.planning.make_room.search import Outcome, Search
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
    request: MakeRoomRequest, outcome: Outcome, schedule: Schedule, deadline: Deadline
) -> BindingLimits:
    """Limits without which more pods would be helped; empty if there are none, or if time is over."""
    limits = request.eligibility.limits
    certificate = outcome.certificate
    is_final = certificate is not None and certificate.helpable <= len(schedule.places)
    if limits == MoveLimits() or is_final or deadline.is_over():
        return BindingLimits()
    freed = msgspec.structs.replace(request.eligibility, limits=MoveLimits())
    problem = Problem(request.prediction, request.placement, freed)
    better = Search(problem, deadline, request.seed, request.progress).run().best
    if helped_by(problem, better) <= helped_by(problem, schedule):
        return BindingLimits()
    bound = Problem(request.prediction, request.placement, request.eligibility)
    return BindingLimits(tuple(violated_limits(bound, better)), len(better.places), better.evictions)
