"""Repairs violations of spread and affinity by the fewest evictions: start reading here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.planning.assignment.assigning import Reassignment, cost_after, reassign
from rescheduler.planning.assignment.assignment_problem import (
    AffinityCost,
    AssignmentCosts,
    AssignmentProblem,
    SpreadCost,
)
from rescheduler.planning.assignment.members import FEW_MOVABLE, Members, affordable_members, assignment_of
from rescheduler.planning.assignment.pairs import add_pairs
from rescheduler.planning.assignment.staying import Staying, because
from rescheduler.planning.objectives.fault_domains.affinity_violations import AffinityViolations
from rescheduler.planning.objectives.fault_domains.anti_affinity_violations import AntiAffinityViolations
from rescheduler.planning.objectives.fault_domains.bounds import least_violations
from rescheduler.planning.objectives.fault_domains.misplaced import Misplaced
from rescheduler.planning.objectives.fault_domains.part import ViolationCounter
from rescheduler.planning.objectives.fault_domains.spread_violations import SpreadViolations
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.objectives.separate_antagonists.messages import MOST_NAMED, MOST_REFUSALS, counted
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits, remaining_limits
from rescheduler.planning.search.answering import planned_moves
from rescheduler.planning.search.local_search import problem_of
from rescheduler.policy.fields.objectives import FaultDomainsArgs

# The question of repairing violations as an assignment problem for the exact solver.


def assignment_for(problem: Problem, state: ViolationsState, limits: RemainingLimits) -> AssignmentProblem | None:
    """All movable pods, or those that matter to a violated part, the others left out; None where that is too much.

    Where pods are left out, parts that are not violated now are too: they only add to the cost.
    """
    rows = np.arange(len(problem.movable))
    parts: Sequence[ViolationCounter] = state.parts
    if len(rows) > FEW_MOVABLE:
        parts = [part for part in parts if part.cost]
        rows = np.flatnonzero(_concerned(problem, parts)[problem.movable])
    found = affordable_members(problem, rows)
    if found is None:
        return None
    members, nodes = found
    costs = AssignmentCosts()
    for part in parts:
        _add(costs, members, nodes, part)
    return assignment_of(members, nodes, limits, costs)


def _concerned(problem: Problem, parts: Sequence[ViolationCounter]) -> BoolArray:
    is_concerned = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    for part in parts:
        pods = part.concerns()
        is_concerned[part.blame().pods if pods is None else pods] = True
    return is_concerned


def _add(costs: AssignmentCosts, members: Members, nodes: list[tuple[int, ...]], part: ViolationCounter) -> None:
    if isinstance(part, Misplaced):
        _add_misplaced(costs, members, nodes, part)
    elif isinstance(part, AntiAffinityViolations):
        add_pairs(costs, members, nodes, part.conflicts.conflicts, part.conflicts.codes)
    elif isinstance(part, AffinityViolations):
        _add_needs(costs, members, part)
    elif isinstance(part, SpreadViolations):
        standing = members.standing(part.pods)
        costs.evennesses.append(
            SpreadCost(
                part.codes,
                members.among(part.pods),
                _tally(members, standing, part.codes, len(part.counts)),
                part.is_domain,
                part.max_skew,
                part.is_from_zero,
            )
        )


def _add_misplaced(costs: AssignmentCosts, members: Members, nodes: list[tuple[int, ...]], part: Misplaced) -> None:
    costs.constant += len(members.standing(part.blame().pods))
    for position, pod in enumerate(members.pods.tolist()):
        barred = part.is_barred(pod)
        for node in nodes[position]:
            costs.charge(position, node, int(barred[node]))


def _add_needs(costs: AssignmentCosts, members: Members, part: AffinityViolations) -> None:
    standing = members.standing(part.partners)
    partners = members.among(part.partners)
    codes = tuple(part.codes)
    tallies = [_tally(members, standing, code, int(code.max(initial=0)) + 1) for code in codes]
    keyed = members.problem.start.node_of[standing]
    has_standing = bool(part.has_some_key[keyed].any())
    for pod in part.holders.tolist():
        if members.is_left_out[pod]:
            continue
        holder = members.position.get(pod, NOWHERE)
        node = int(members.problem.start.node_of[pod])
        own = [tally.copy() for tally in tallies]
        others_standing = has_standing
        if holder == NOWHERE and (standing == pod).any():  # nobody is company for itself
            for code, tally in zip(codes, own, strict=True):
                if code[node] != NOWHERE:
                    tally[code[node]] -= 1
            others = standing[standing != pod]
            others_standing = bool(part.has_some_key[members.problem.start.node_of[others]].any())
        costs.needs.append(
            AffinityCost(
                holder=holder,
                node=node,
                codes=codes,
                standing=tuple(own),
                partners=tuple(partner for partner in partners if partner != holder),
                has_standing=others_standing,
                is_free_alone=part.own.is_its_own_attractor,
            )
        )


def _tally(members: Members, pods: IntArray, codes: IndexArray, width: int) -> IntArray:
    nodes = members.problem.start.node_of[pods]
    domains = codes[nodes[nodes != NOWHERE]]
    return np.bincount(domains[domains != NOWHERE], minlength=width).astype(np.int64)


# What is said of a plan that repairs violations.

_PODS_OF_A_PART = 3


def reason_of(problem: Problem, before: ViolationsState, pod: int) -> str:
    """Why a pod moves: the violations that it takes part in, or the room or company that it makes."""
    node = problem.columns.cluster.nodes[int(problem.start.node_of[pod])].name
    for part in before.parts_of(pod):
        if part.cost and pod in _blamed(part):
            return f"repairs {part.describe()} on {node}"
    return f"leaves {node}, so that violations elsewhere can be repaired"


def outcome(
    problem: Problem,
    before: ViolationsState,
    after: ViolationsState,
    evictions: int,
    staying: Staying,
    rules: str = "spread and affinity",
) -> tuple[str, tuple[Refusal, ...]]:
    """The message, and refusals of pods that keep violations. ``rules``: what is violated, in words."""
    either = rules.replace(" and ", " or ")
    if not before.cost:
        return f"nothing violates {either}", ()
    gone = counted(before.cost - after.cost, "violation")
    text = f"{gone} of {rules} repaired by {counted(evictions, 'eviction')}"
    text = text if evictions else f"no violation of {either} could be repaired"
    left = sorted((part for part in after.parts if part.cost), key=lambda part: -part.cost)
    if not left:
        return text, ()
    blamed = [pod for part in left for pod in _blamed(part)]
    refusals = {pod: staying.why(pod) for pod in list(dict.fromkeys(blamed))[:MOST_REFUSALS]}
    told = [_part(problem, part) for part in left[:MOST_NAMED]]
    more = [f"and {counted(len(left) - MOST_NAMED, 'more constraint')}"] if len(left) > MOST_NAMED else []
    stay = f"{counted(after.cost, 'violation')} {'stays' if after.cost == 1 else 'stay'}"
    return f"{text}; {stay}: {'; '.join([*told, *more])}{because(refusals.values())}", tuple(refusals.values())


def _blamed(part: ViolationCounter) -> list[int]:
    """Pods that take part in what is violated."""
    blame = part.blame()
    return [pod for pod, amount in zip(blame.pods.tolist(), blame.amounts.tolist(), strict=True) if amount]


def _part(problem: Problem, part: ViolationCounter) -> str:
    """What stays violated, and by whom."""
    pods, own = problem.columns.cluster.pods, _blamed(part)
    named = ", ".join(pods[pod].key for pod in own[:_PODS_OF_A_PART])
    more = f" and {len(own) - _PODS_OF_A_PART} more" if len(own) > _PODS_OF_A_PART else ""
    return f"{part.cost} of {part.describe()} by {named}{more}"


UNIT = "violations"
SEARCH_SHARE = 0.9  # of the time; the rest is for the words
BOUND_SHARE = 0.5  # at most, of what the simple rule leaves of the search


class FaultDomains(PlanningObjective):
    """The fewest violations of spread and affinity that are left, then the fewest evictions."""

    name = "FaultDomains"
    arguments = FaultDomainsArgs
    least_share = 0.6
    rules: ClassVar[str] = "spread and affinity"

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """The fewest violations that are left, then the fewest evictions; see ``ViolationsState`` for what is one.

        INFEASIBLE: it is proven that some violation must stay; the message and the refusals say which do and why.
        """
        deadline = request.deadline()
        problem = problem_of(request)
        state = self.state(problem)
        if not state.cost:
            return self._answer(request, problem, state, Reassignment(WaveSchedule(), 0.0), deadline)
        limits = remaining_limits(request.eligibility.limits, request.placement)
        search = deadline.part(SEARCH_SHARE)
        found = reassign(
            request,
            problem,
            lambda: assignment_for(problem, state, limits),
            state.copy,
            search,
            lambda: least_violations(problem, state, limits, search.part(BOUND_SHARE)),
        )
        return self._answer(request, problem, state, found, deadline)

    def state(self, problem: Problem) -> ViolationsState:
        """Violations."""
        return ViolationsState(problem)

    def _answer(
        self,
        request: PlanRequest,
        problem: Problem,
        before: ViolationsState,
        found: Reassignment,
        deadline: Deadline,
    ) -> ObjectivePlan:
        after = before.copy()
        cost_after(problem, found.schedule, after)
        staying = Staying(request, problem, found.schedule)
        message, refusals = outcome(problem, before, after, found.schedule.evictions, staying, self.rules)
        return ObjectivePlan(
            status=Status.INFEASIBLE if found.bound else Status.OPTIMAL if found.cost <= 0 else Status.FEASIBLE,
            value=found.cost,
            bound=float(found.bound),
            unit=UNIT,
            message="; ".join([message, *found.notes(request)]),
            moves=planned_moves(
                request, problem, found.schedule, deadline, lambda pod, _: reason_of(problem, before, pod)
            ),
            refusals=refusals,
        )
