"""Repairs violations of spread and affinity by the fewest evictions: start reading here."""

from __future__ import annotations

from rescheduler.model.plan.plan import Status
from rescheduler.planning.assignment.assigning import Reassignment, cost_after, reassign
from rescheduler.planning.assignment.staying import Staying
from rescheduler.planning.objectives.fault_domains.assignment import assignment_for
from rescheduler.planning.objectives.fault_domains.bounds import least_violations
from rescheduler.planning.objectives.fault_domains.messages import outcome, reason_of
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.answering import planned_moves
from rescheduler.planning.search.local_search import problem_of
from rescheduler.policy.fields.objectives import FaultDomainsArgs

UNIT = "violations"
SEARCH_SHARE = 0.9  # of the time; the rest is for the words


class FaultDomains(PlanningObjective):
    """The fewest violations of spread and affinity that are left, then the fewest evictions."""

    name = "FaultDomains"
    arguments = FaultDomainsArgs

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """The fewest violations that are left, then the fewest evictions; see ``ViolationsState`` for what is one.

        INFEASIBLE: it is proven that some violation must stay; the message and the refusals say which do and why.
        """
        deadline = Deadline(request.clock, request.deadline_seconds)
        problem = problem_of(request)
        state = ViolationsState(problem)
        if not state.cost:
            return _answer(request, problem, state, Reassignment(WaveSchedule(), 0.0), 0, deadline)
        limits = remaining_limits(request.eligibility.limits, request.placement)
        bound = least_violations(problem, state, limits)
        assignment = assignment_for(problem, state, limits)
        found = reassign(request, problem, assignment, state.copy, deadline.part(SEARCH_SHARE), float(bound))
        return _answer(request, problem, state, found, max(bound, found.bound or 0), deadline)

    def state(self, problem: Problem) -> ViolationsState:
        """Violations."""
        return ViolationsState(problem)


def _answer(
    request: PlanRequest,
    problem: Problem,
    before: ViolationsState,
    found: Reassignment,
    bound: int,
    deadline: Deadline,
) -> ObjectivePlan:
    after = before.copy()
    cost_after(problem, found.schedule, after)
    staying = Staying(request, problem, found.schedule)
    message, refusals = outcome(problem, before, after, found.schedule.evictions, staying)
    return ObjectivePlan(
        status=Status.INFEASIBLE if bound else Status.OPTIMAL if found.cost <= bound else Status.FEASIBLE,
        value=found.cost,
        bound=float(bound),
        unit=UNIT,
        message="; ".join([message, *found.notes(request)]),
        moves=planned_moves(request, problem, found.schedule, deadline, lambda pod, _: reason_of(problem, before, pod)),
        refusals=refusals,
    )
