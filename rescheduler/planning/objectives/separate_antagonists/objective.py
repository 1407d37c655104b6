"""Separates antagonists by the fewest evictions: start reading here."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.plan.plan import Status
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.assignment.assigning import Reassignment, cost_after, reassign
from rescheduler.planning.assignment.assignment_problem import AssignmentCosts, AssignmentProblem
from rescheduler.planning.assignment.members import FEW_MOVABLE, affordable_members, assignment_of
from rescheduler.planning.assignment.pairs import add_pairs
from rescheduler.planning.assignment.staying import Staying
from rescheduler.planning.objectives.separate_antagonists.antagonists import Antagonists, find_antagonists
from rescheduler.planning.objectives.separate_antagonists.bounds import least_pairs
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictCounts
from rescheduler.planning.objectives.separate_antagonists.messages import SeparationMessages
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits, remaining_limits
from rescheduler.planning.search.answering import planned_moves
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.policy.fields.objectives import SeparateAntagonistsArgs

# What the objective SeparateAntagonists thinks of a placement: pairs of antagonists on one node.


class SeparationState(ObjectiveState):
    """Pairs of antagonists that share a node; begins at the start of the problem."""

    def __init__(self, problem: Problem, antagonists: Antagonists) -> None:
        """Count the pairs; O(pods + classes * nodes)."""
        self._movable = problem.movable
        codes = np.arange(problem.node_count, dtype=np.int32)
        self.conflict_counts = ConflictCounts(antagonists.conflicts, problem.start.node_of, codes)
        self.cost = float(self.conflict_counts.pairs)

    def change(self, row: int) -> FloatArray:
        """See ObjectiveState."""
        return self.conflict_counts.change(int(self._movable[row]))

    def promising(self) -> IntArray:
        """Pods beside antagonists, those with the most first."""
        here = self.conflict_counts.here[self._movable]
        rows = np.flatnonzero(here)
        return rows[np.argsort(-here[rows], kind="stable")]

    def copy(self) -> SeparationState:
        """An independent copy, much cheaper than counting anew."""
        other = copy(self)
        other.conflict_counts = self.conflict_counts.copy()
        return other

    def hopes(self) -> FloatArray:
        """At most by how much the cost falls if one pod moves, float64[M]."""
        return self.conflict_counts.here[self._movable].astype(np.float64)

    def move(self, row: int, node: int) -> None:
        """See ObjectiveState."""
        self.conflict_counts.move(int(self._movable[row]), node)
        self.cost = float(self.conflict_counts.pairs)


# The question of separating antagonists as an assignment problem for the exact solver.


def assignment_for(problem: Problem, antagonists: Antagonists, limits: RemainingLimits) -> AssignmentProblem | None:
    """All movable pods, or those with antagonists only, the others left out; None where that is too much."""
    class_of = antagonists.conflicts.class_of[problem.movable]
    rows = np.arange(len(problem.movable))
    if len(rows) > FEW_MOVABLE:
        rows = rows[class_of != NOWHERE]
    found = affordable_members(problem, rows)
    if found is None:
        return None
    members, nodes = found
    costs = AssignmentCosts()
    add_pairs(costs, members, nodes, antagonists.conflicts, members.codes(None))
    return assignment_of(members, nodes, limits, costs)


UNIT = "pairs"
SEARCH_SHARE = 0.9  # of the time; the rest is for the words
BOUND_SHARE = 0.5  # at most, of what the simple rule leaves of the search


class SeparateAntagonists(PlanningObjective):
    """The fewest pairs of antagonists that share a node, then the fewest evictions."""

    name = "SeparateAntagonists"
    arguments = SeparateAntagonistsArgs
    least_share = 0.6

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """The fewest pairs of antagonists that share a node, then the fewest evictions; the value is the pairs left.

        INFEASIBLE: it is proven that some pair must stay; the message and the refusals say which do and why.
        """
        antagonists = self.antagonists
        deadline = request.deadline()
        problem = problem_of(request)
        state = SeparationState(problem, antagonists)
        if not state.cost:
            return _answer(request, problem, state, antagonists, Reassignment(WaveSchedule(), 0.0), deadline)
        limits = remaining_limits(request.eligibility.limits, request.placement)
        search = deadline.part(SEARCH_SHARE)
        codes = state.conflict_counts.codes
        found = reassign(
            request,
            problem,
            lambda: assignment_for(problem, antagonists, limits),
            state.copy,
            search,
            lambda: least_pairs(problem, antagonists.conflicts, codes, limits, search.part(BOUND_SHARE)),
        )
        return _answer(request, problem, state, antagonists, found, deadline)

    def state(self, problem: Problem) -> SeparationState:
        """Pairs of antagonists that share a node."""
        return SeparationState(problem, self.antagonists)

    @cached_property
    def antagonists(self) -> Antagonists:
        """Who they are."""
        columns = self.setting.columns
        return find_antagonists(columns, self.args, columns.cluster.taken_at)


def _answer(
    request: PlanRequest,
    problem: Problem,
    before: SeparationState,
    antagonists: Antagonists,
    found: Reassignment,
    deadline: Deadline,
) -> ObjectivePlan:
    after = before.copy()
    cost_after(problem, found.schedule, after)
    told = SeparationMessages(problem, antagonists, before.conflict_counts, found.ends(problem))
    message, refusals = told.outcome(
        after.conflict_counts, found.schedule.evictions, Staying(request, problem, found.schedule)
    )
    return ObjectivePlan(
        status=Status.INFEASIBLE if found.bound else Status.OPTIMAL if found.cost <= 0 else Status.FEASIBLE,
        value=found.cost,
        bound=float(found.bound),
        unit=UNIT,
        message="; ".join([message, *found.notes(request), *antagonists.warnings]),
        moves=planned_moves(request, problem, found.schedule, deadline, told.reason),
        refusals=refusals,
    )
