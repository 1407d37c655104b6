"""Improves a placement for any objective by as few and as cheap moves as it can find: start reading here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.arranging import arrange, take_back_what_does_not_pay, try_other
from rescheduler.planning.search.destinations import choose_again, follow_the_scheduler
from rescheduler.planning.search.neighbourhoods import Neighbourhoods
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.search.pairs import move_in_pairs
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.search.single_moves import NEARLY, Liked, OnlyPredicted, Tightest, move_one_by_one
from rescheduler.planning.waves.waves import GroupsOfPods

ITERATIONS = 300
"""Rounds of the neighbourhood search; a search that ends by them, not by its deadline, is repeatable."""
SEARCH_SHARE = 0.6  # the rest of the time is for the order of the moves and their destinations
FOLLOWING_SHARE = 0.7


@dataclass(frozen=True)
class LocalSearchResult:
    """Moves in waves, with the objective's cost before and after them (what the moves cost left out).

    ``current``: as it stands after them. ``taken_back``: moves that would have helped, but found no order, or without
    holds would not come about.
    """

    current: SearchState
    schedule: WaveSchedule
    cost_before: float
    cost_after: float
    taken_back: int = 0

    @property
    def evictions(self) -> int:
        """Number of moves."""
        return self.schedule.evictions


def problem_of(request: PlanRequest) -> Problem:
    """The arrays of a question; guards and states name pods by its rows."""
    return Problem(request.prediction, request.placement, request.eligibility)


def improve(
    request: PlanRequest,
    problem: Problem,
    state: ObjectiveState,
    deadline: Deadline,
    *,
    iterations: int = ITERATIONS,
    floor: float = -inf,
    is_cheap: BoolArray | None = None,
    hint: Sequence[tuple[int, int]] = (),
) -> LocalSearchResult:
    """Lower the cost of ``state`` within the limits; never worse than doing nothing.

    ``problem``: of ``problem_of(question)``. ``state`` and the question's guards begin at the start of the problem and
    end where the plan ends. ``floor``: a cost that no plan can be below, where one is known. ``is_cheap``: bool[M],
    pods to move before others of (nearly) equal gain. ``hint``: moves (row, node) of an exact model, in any order, to
    be taken where they turn out better.
    """
    before = state.cost
    limits = remaining_limits(request.eligibility.limits, request.placement)
    current = SearchState(problem, state, limits, guards=request.guards, move_cost=request.move_cost, is_cheap=is_cheap)
    search = deadline.part(SEARCH_SHARE)
    choice = Tightest() if request.is_guided_by_holds else OnlyPredicted()
    groups = GroupsOfPods(problem)
    move_one_by_one(current, choice, search)
    while not choice.is_bound_to_prediction and move_in_pairs(current, search):
        move_one_by_one(current, choice, search)
    take_back_what_does_not_pay(current)
    Neighbourhoods(current, choice, groups, request.seed, floor).search(search, iterations)
    if hint and not choice.is_bound_to_prediction:
        try_other(current, groups, hint, deadline)
    schedule, taken_back = arrange(current, groups, deadline, only_predicted=not request.is_guided_by_holds)
    if request.is_guided_by_holds:
        schedule = _with_destinations(current, groups, schedule, deadline.part(FOLLOWING_SHARE))
    return LocalSearchResult(current, schedule, before, state.cost, taken_back)


def _with_destinations(
    current: SearchState, groups: GroupsOfPods, planned: WaveSchedule, deadline: Deadline
) -> WaveSchedule:
    """The plan with as many of the scheduler's own choices as can be, or another as good that has more of them."""
    if planned.evict_first:
        return planned  # there is no room elsewhere
    best = follow_the_scheduler(current, groups, planned, deadline.part(0.4))
    if best.guided:
        best = choose_again(current, groups, best, deadline.part(0.4))
    if not best.guided:
        return best.schedule
    current.reset([])
    enough = best.cost + NEARLY * max(0.0, current.cost - best.cost) + SAME
    move_one_by_one(current, Liked(), deadline.part(0.5))
    move_one_by_one(current, Tightest(), deadline)
    move_in_pairs(current, deadline)
    if current.cost <= enough and len(current.moved) <= len(best.moves):
        schedule, _ = arrange(current, groups, deadline, only_predicted=False)
        other = follow_the_scheduler(current, groups, schedule, deadline)
        is_ordinary = not other.schedule.evict_first
        if is_ordinary and other.cost <= enough and len(other.moves) <= len(best.moves) and other.guided < best.guided:
            return other.schedule
    current.reset(best.moves)
    return best.schedule
