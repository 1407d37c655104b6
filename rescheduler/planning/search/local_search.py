"""Improves a placement for any objective by as few and as cheap moves as it can find: start reading here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.arranging import arrange, take_back_what_does_not_pay, try_other
from rescheduler.planning.search.destinations import choose_again, follow_the_scheduler
from rescheduler.planning.search.every_placement import cheapest_placement, is_tiny
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.search.pairs import move_in_pairs
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.search.single_moves import (
    NEARLY,
    DestinationChoice,
    Liked,
    OnlyPredicted,
    Tightest,
    first_gains,
    move_one_by_one,
)
from rescheduler.planning.waves.still_possible import as_possible_here
from rescheduler.planning.waves.wave_packing import packed
from rescheduler.planning.waves.waves import GroupsOfPods

# Takes some of the moves back and tries others in their place, again and again; keeps what is better.

MOST_TAKEN_BACK = 12
MOST_STALE = 40
NOISE = 0.3
ROWS_IN_PAIRS = 6


class Neighbourhoods:
    """The best moves so far, and the search around them. ``floor``: cost that nothing can be below."""

    def __init__(
        self, current: SearchState, choice: DestinationChoice, groups: GroupsOfPods, seed: int, floor: float
    ) -> None:
        """Begin with the moves on the search state."""
        self._current = current
        self._choice = choice
        self._groups = groups
        self._draw = np.random.default_rng(seed)
        self._floor = floor
        self._best = list(current.moved.items())
        self._worth = self._measure()

    def search(self, deadline: Deadline, iterations: int) -> None:
        """At most so many rounds, fewer when nothing has been found for long; the state ends with the best moves."""
        stale = 0
        for _ in range(iterations):
            if deadline.is_over() or stale >= MOST_STALE or not self._best or self._is_unbeatable():
                break
            stale = 0 if self._round(deadline) else stale + 1
        self._current.reset(self._best)

    def _round(self, deadline: Deadline) -> bool:
        """Whether a better set of moves was found."""
        current = self._current
        for row in self._some_moves().tolist():
            if current.can_return(row):
                current.undo(row)
        noise = self._draw.uniform(1.0 - NOISE, 1.0 + NOISE, size=len(current.problem.movable))
        move_one_by_one(current, self._choice, deadline, noise=lambda row: float(noise[row]))
        if self._draw.random() < 0.3 and not self._choice.is_bound_to_prediction:
            move_in_pairs(current, deadline, most_rows=ROWS_IN_PAIRS)
        worth = self._measure()
        if worth < self._worth and current.is_guarded and self._has_order(deadline):
            self._best, self._worth = list(current.moved.items()), worth
            return True
        current.reset(self._best)
        return False

    def _some_moves(self) -> IntArray:
        """A move by chance, and others that left or reached its nodes, or any."""
        rows = np.array(list(self._current.moved), dtype=np.int64)
        count = int(self._draw.integers(1, 1 + min(MOST_TAKEN_BACK, len(rows))))
        first = int(self._draw.choice(rows))
        problem, at = self._current.problem, self._current.node_of
        related = (problem.origin[rows] == problem.origin[first]) | (at[rows] == at[first])
        weight = np.where(related, 5.0, 1.0)
        chosen: IntArray = self._draw.choice(rows, size=count, replace=False, p=weight / weight.sum())
        return chosen

    def _measure(self) -> tuple[float, int, float]:
        """Cost, evictions, and how dear the pods are: less is better."""
        current = self._current
        return round(current.cost / SAME) * SAME, len(current.moved), sum(map(current.weight, current.moved))

    def _is_unbeatable(self) -> bool:
        """No cost is lower; a floor above 0 comes from the limit on evictions, and so needs them all."""
        is_at_floor = self._worth[0] <= self._floor + SAME * max(1.0, abs(self._floor))
        return is_at_floor and (self._worth[1] <= 1 or self._floor > SAME)

    def _has_order(self, deadline: Deadline) -> bool:
        order = [(self._current.pod(row), node) for row, node in self._current.moved.items()]
        return packed(self._current.problem, self._groups, order, deadline) is not None


ITERATIONS = 300
"""Rounds of the neighbourhood search; a search that ends by them, not by its deadline, is repeatable."""
SEARCH_SHARE = 0.6  # the rest of the time is for the order of the moves and their destinations
FOLLOWING_SHARE = 0.7
START_SHARE = 0.4  # of the simple rule's time, for the plan to begin with
FIRST_GAINS_SHARE = 0.85  # of what the simple rule has with the order of its moves


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


@dataclass(frozen=True)
class SimpleMoves:
    """What the simple rule reaches: moves (row, node) in waves, what they cost, and how many found no order.

    ``is_start``: they are those of the plan that the search begins with, which reaches at least as much.
    """

    moves: tuple[tuple[int, int], ...]
    schedule: WaveSchedule
    cost: float
    taken_back: int
    is_start: bool = False

    def is_better_than(self, current: SearchState) -> bool:
        """Whether what stands on a state costs more."""
        return self.cost < current.cost - SAME * max(1.0, abs(current.cost))

    def is_better_than_moves(self, other: SimpleMoves) -> bool:
        """Whether other moves cost more, or as much and are more of them."""
        if abs(self.cost - other.cost) > SAME * max(1.0, abs(other.cost)):
            return self.cost < other.cost
        return len(self.moves) < len(other.moves)


def improve_simply(request: PlanRequest, problem: Problem, state: ObjectiveState, deadline: Deadline) -> SimpleMoves:
    """What the simple rule reaches within most of the time; state and guards are left as they were.

    It comes before anything else is tried or proven, so that no plan falls behind it, however slow the machine is.
    Where the question has a plan to begin with, that if it is as good.
    """
    current = _at_home(request, problem, state)
    found = simply_arranged(current, request, GroupsOfPods(problem), deadline)
    current.reset([])
    return found


def simply_arranged(
    current: SearchState, request: PlanRequest, groups: GroupsOfPods, deadline: Deadline
) -> SimpleMoves:
    """The moves of the simple rule in waves, or those of the start; the state keeps moves that are in the waves."""
    begun = begun_with(current, request, groups, deadline.part(START_SHARE))
    choice = _choice_of(request)
    first_gains(current, choice, deadline.part(FIRST_GAINS_SHARE))
    take_back_what_does_not_pay(current)
    schedule, taken_back = arrange(current, groups, deadline, only_predicted=choice.is_bound_to_prediction)
    found = SimpleMoves(tuple(current.moved.items()), schedule, current.cost, taken_back)
    return found if begun is None or found.is_better_than_moves(begun) else begun


def begun_with(
    current: SearchState, request: PlanRequest, groups: GroupsOfPods, deadline: Deadline
) -> SimpleMoves | None:
    """The plan to begin with, as far as it is allowed here and pays; None where there is none.

    The state is one in which nobody has moved, and is left so.
    """
    if not request.start.waves:
        return None
    problem, limits = current.problem, remaining_limits(request.eligibility.limits, request.placement)
    schedule, taken_back = as_possible_here(problem, limits, request.start, deadline), 0
    for wave in schedule.waves:
        for pod, node in wave:
            row = problem.row_of_movable[pod]
            if current.may_leave(row):
                current.move(row, node)
    take_back_what_does_not_pay(current)
    is_as_it_was = len(current.moved) == schedule.evictions and current.is_guarded
    if not (is_as_it_was and request.is_guided_by_holds):
        schedule, taken_back = arrange(current, groups, deadline, only_predicted=not request.is_guided_by_holds)
    found = SimpleMoves(tuple(current.moved.items()), schedule, current.cost, taken_back, is_start=True)
    current.reset([])
    return found


def improve(
    request: PlanRequest,
    problem: Problem,
    state: ObjectiveState,
    deadline: Deadline,
    simple: SimpleMoves | None = None,
    *,
    iterations: int = ITERATIONS,
    floor: float = -inf,
    is_cheap: BoolArray | None = None,
    hint: Sequence[tuple[int, int]] = (),
) -> LocalSearchResult:
    """Lower the cost of ``state`` within the limits; never worse than the simple rule, or than doing nothing.

    ``problem``: of ``problem_of(question)``. ``state`` and the question's guards begin at the start of the problem and
    end where the plan ends. ``simple``: of ``improve_simply`` (None: it is asked here). ``floor``: a cost that no plan
    can be below, where one is known. ``is_cheap``: bool[M], pods to move before others of (nearly) equal gain.
    ``hint``: moves (row, node) of an exact model, in any order, to be taken where they turn out better.
    """
    simple = simple or improve_simply(request, problem, state, deadline)
    before = state.cost
    current = _at_home(request, problem, state, is_cheap)
    groups = GroupsOfPods(problem)
    schedule, taken_back = WaveSchedule(), 0
    if not deadline.is_over():
        search = deadline.part(SEARCH_SHARE)
        _search(current, _choice_of(request), groups, search, simple, request.seed, iterations, floor)
        if request.is_guided_by_holds:
            _try_others(current, groups, hint, floor, deadline)
        schedule, taken_back = arrange(current, groups, deadline, only_predicted=not request.is_guided_by_holds)
    if simple.is_better_than(current):
        current.reset(simple.moves)
        schedule, taken_back = simple.schedule, simple.taken_back
    if request.is_guided_by_holds and not deadline.is_over():
        schedule = _with_destinations(current, groups, schedule, deadline.part(FOLLOWING_SHARE))
    if simple.is_start and simple.is_better_than(current):  # by less than a choice of the scheduler's is worth
        current.reset(simple.moves)
        schedule, taken_back = simple.schedule, simple.taken_back
    return LocalSearchResult(current, schedule, before, state.cost, taken_back)


def _at_home(
    request: PlanRequest, problem: Problem, state: ObjectiveState, is_cheap: BoolArray | None = None
) -> SearchState:
    limits = remaining_limits(request.eligibility.limits, request.placement)
    return SearchState(problem, state, limits, guards=request.guards, move_cost=request.move_cost, is_cheap=is_cheap)


def _choice_of(request: PlanRequest) -> DestinationChoice:
    return Tightest() if request.is_guided_by_holds else OnlyPredicted()


def _search(
    current: SearchState,
    choice: DestinationChoice,
    groups: GroupsOfPods,
    deadline: Deadline,
    simple: SimpleMoves,
    seed: int,
    iterations: int,
    floor: float,
) -> None:
    """Leave the best moves that are found on the state, whatever their order."""
    if simple.is_start:
        current.reset(simple.moves)
    move_one_by_one(current, choice, deadline)
    while not choice.is_bound_to_prediction and move_in_pairs(current, deadline):
        move_one_by_one(current, choice, deadline)
    take_back_what_does_not_pay(current)
    Neighbourhoods(current, choice, groups, seed, floor).search(deadline, iterations)
    if simple.is_better_than(current):
        current.reset(simple.moves)
        Neighbourhoods(current, choice, groups, seed, floor).search(deadline, iterations)


def _try_others(
    current: SearchState, groups: GroupsOfPods, hint: Sequence[tuple[int, int]], floor: float, deadline: Deadline
) -> None:
    """Leave the moves of an exact model on the state, or those to the cheapest placement of all, if they cost less."""
    if hint:
        try_other(current, groups, hint, deadline)
    if current.cost > floor + SAME and is_tiny(current):
        own = list(current.moved.items())
        found = cheapest_placement(current, deadline.part(SEARCH_SHARE))
        current.reset(own)
        if found:
            try_other(current, groups, found, deadline)


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
