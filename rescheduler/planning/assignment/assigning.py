"""Plans for a cost that counts who stands beside whom: exactly where that is small enough, else by improvement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rescheduler.model.columns.arrays import IndexArray
from rescheduler.planning.assignment.assignment_problem import Case
from rescheduler.planning.assignment.exact import MOST_CUTS, Exact, solve_exactly
from rescheduler.planning.assignment.taste import to_schedulers_taste
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Schedule
from rescheduler.planning.problem.plan_request import Question
from rescheduler.planning.problem.prices import relative_price
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.local_search import improve
from rescheduler.planning.search.objective_state import ObjectiveState

EXACT_SHARE = 0.5  # of the time; what is left is for the improvement and for the order of its moves
_SAME = 1e-9


@dataclass(frozen=True)
class Rearrangement:
    """Moves in waves, and the cost after them; ``bound``: no plan costs less (None: the case proves nothing).

    ``taken_back``: moves that would have helped, but found no order, or without holds would not come about.
    """

    schedule: Schedule
    cost: float
    bound: int | None = None
    taken_back: int = 0

    def notes(self, question: Question) -> list[str]:
        """What to say of moves that were taken back."""
        exchanges = self.schedule.notes_on_exchanges
        if not self.taken_back:
            return exchanges
        moves = f"{self.taken_back} more move{'s' if self.taken_back != 1 else ''} would help"
        if question.is_guided_by_holds:
            return [*exchanges, f"{moves}, but found no order in which every pod arrives before it departs"]
        return [f"without guidance {moves}, but the scheduler would not make them by itself"]

    def ends(self, problem: Problem) -> IndexArray:
        """Where pods are after the moves, int32[P]."""
        node_of = problem.start.node_of.copy()
        for wave in self.schedule.waves:
            for pod, node in wave:
                node_of[pod] = node
        return node_of


def rearrange(
    question: Question,
    problem: Problem,
    case: Case | None,
    state_of: Callable[[], ObjectiveState],
    deadline: Deadline,
    floor: float = 0.0,
) -> Rearrangement:
    """The best plan found; never worse than doing nothing.

    ``case``: None where the question is too large for one. ``state_of`` makes the objective's state at the start.
    ``floor``: a cost that no plan can be below.
    """
    best = Rearrangement(Schedule(), state_of().cost)
    exact = Exact(None)
    if case is not None:
        question.progress("solving exactly")
        exact = _exactly(question, problem, case, deadline)
    if exact.schedule is not None:
        schedule = to_schedulers_taste(problem, exact.schedule, state_of, deadline)
        schedule = schedule if _keeps_guards(problem, question, schedule) else exact.schedule
        found = Rearrangement(schedule, cost_after(problem, schedule, state_of()))
        best = _better(problem, question, best, found)
    if not exact.is_best:
        question.progress("improving move by move")
        improved = improve(question, problem, state_of(), deadline, floor=max(floor, exact.bound or 0.0))
        found = Rearrangement(improved.schedule, improved.cost_after, taken_back=improved.taken_back)
        best = _better(problem, question, best, found)
    return replace(best, bound=exact.bound)


def cost_after(problem: Problem, schedule: Schedule, state: ObjectiveState) -> float:
    """Cost after a schedule; the state is changed."""
    for row, node in _moves(problem, schedule):
        state.move(row, node)
    return state.cost


def _exactly(question: Question, problem: Problem, case: Case, deadline: Deadline) -> Exact:
    """Without holds only the bound is of use: what the scheduler does by itself is not in the case."""
    return solve_exactly(
        problem,
        case,
        deadline.part(EXACT_SHARE),
        question.seed,
        move_cost=question.move_cost,
        most_cuts=MOST_CUTS if question.is_guided_by_holds else 1,
        is_allowed=lambda schedule: question.is_guided_by_holds and _keeps_guards(problem, question, schedule),
    )


def _keeps_guards(problem: Problem, question: Question, schedule: Schedule) -> bool:
    """Whether no earlier objective gets worse; the guards are left as they were."""
    for guard in question.guards:
        before = guard.cost
        after = cost_after(problem, schedule, guard)
        for row, _ in _moves(problem, schedule):
            guard.move(row, int(problem.origin[row]))
        if after > before + _SAME * max(1.0, abs(before)):
            return False
    return True


def _better(problem: Problem, question: Question, one: Rearrangement, other: Rearrangement) -> Rearrangement:
    return other if _rank(problem, question, other) < _rank(problem, question, one) else one


def _rank(problem: Problem, question: Question, found: Rearrangement) -> tuple[float, int, int]:
    """Lower is better: cost with what the moves cost, evictions, prices."""
    rows = np.array([row for row, _ in _moves(problem, found.schedule)], dtype=np.int64)
    fees = int(problem.prices(rows).sum())
    return round(found.cost + question.move_cost * relative_price(fees), 6), len(rows), fees


def _moves(problem: Problem, schedule: Schedule) -> Iterator[tuple[int, int]]:
    for wave in schedule.waves:
        for pod, node in wave:
            yield problem.row_of_movable[pod], node
