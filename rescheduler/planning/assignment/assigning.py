"""Plans for a cost that counts who stands beside whom: exactly where that is small enough, else by improvement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rescheduler.model.columns.arrays import IndexArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.assignment.assignment_problem import AssignmentProblem
from rescheduler.planning.assignment.exact import MOST_CUTS, ExactAssignment, solve_exactly
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.prices import relative_price
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.local_search import improve, improve_simply
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice
from rescheduler.planning.waves.sequencing import waves_in_order

SIMPLE_SHARE = 0.95  # of the time at most, for what no plan may fall behind
EXACT_SHARE = 0.5  # of the time; what is left is for the improvement and for the order of its moves
_SAME = 1e-9


@dataclass(frozen=True)
class Reassignment:
    """Moves in waves, and the cost after them; ``bound``: no plan costs less.

    ``taken_back``: moves that would have helped, but found no order, or without holds would not come about.
    """

    schedule: WaveSchedule
    cost: float
    bound: int = 0
    taken_back: int = 0

    def notes(self, request: PlanRequest) -> list[str]:
        """What to say of moves that were taken back."""
        exchanges = self.schedule.notes_on_exchanges
        if not self.taken_back:
            return exchanges
        moves = f"{self.taken_back} more move{'s' if self.taken_back != 1 else ''} would help"
        if request.is_guided_by_holds:
            return [*exchanges, f"{moves}, but found no order in which every pod arrives before it departs"]
        return [f"without guidance {moves}, but the scheduler would not make them by itself"]

    def ends(self, problem: Problem) -> IndexArray:
        """Where pods are after the moves, int32[P]."""
        node_of = problem.start.node_of.copy()
        for wave in self.schedule.waves:
            for pod, node in wave:
                node_of[pod] = node
        return node_of


def reassign(
    request: PlanRequest,
    problem: Problem,
    assignment_of: Callable[[], AssignmentProblem | None],
    state_of: Callable[[], ObjectiveState],
    deadline: Deadline,
    least: Callable[[], int],
) -> Reassignment:
    """The best plan found; never worse than doing nothing.

    ``assignment_of`` makes the question as one model (None: it is too large), ``state_of`` the objective's state at the
    start. ``least``: counts a cost that no plan can be below; it is asked for once the simple rule has been tried.
    """
    state = state_of()
    best = Reassignment(WaveSchedule(), state.cost)
    first = improve_simply(request, problem, state, deadline.part(SIMPLE_SHARE))
    simple = Reassignment(first.schedule, cost_after(problem, first.schedule, state), taken_back=first.taken_back)
    floor = 0 if deadline.is_over() else least()
    exact = ExactAssignment(None)
    assignment = None if deadline.is_over() else assignment_of()
    if assignment is not None:
        request.progress("solving exactly")
        exact = _exactly(request, problem, assignment, deadline)
    if exact.schedule is not None:
        schedule = as_the_scheduler_likes(problem, exact.schedule, state_of, deadline)
        schedule = schedule if _keeps_guards(problem, request, schedule) else exact.schedule
        found = Reassignment(schedule, cost_after(problem, schedule, state_of()))
        best = _better(problem, request, best, found)
    if not exact.is_best and not deadline.is_over():
        request.progress("improving move by move")
        improved = improve(request, problem, state_of(), deadline, first, floor=max(floor, exact.bound or 0))
        found = Reassignment(improved.schedule, improved.cost_after, taken_back=improved.taken_back)
        best = _better(problem, request, best, found)
    if round(simple.cost, 6) < round(best.cost, 6):
        best = _better(problem, request, best, simple)
    return replace(best, bound=max(floor, exact.bound or 0))


def cost_after(problem: Problem, schedule: WaveSchedule, state: ObjectiveState) -> float:
    """Cost after a schedule; the state is changed."""
    for row, node in _moves(problem, schedule):
        state.move(row, node)
    return state.cost


def _exactly(
    request: PlanRequest, problem: Problem, assignment: AssignmentProblem, deadline: Deadline
) -> ExactAssignment:
    """Without holds only the bound is of use: what the scheduler does by itself is not in the assignment problem."""
    return solve_exactly(
        problem,
        assignment,
        deadline.part(EXACT_SHARE),
        request.seed,
        move_cost=request.move_cost,
        most_cuts=MOST_CUTS if request.is_guided_by_holds else 1,
        is_allowed=lambda schedule: request.is_guided_by_holds and _keeps_guards(problem, request, schedule),
    )


def _keeps_guards(problem: Problem, request: PlanRequest, schedule: WaveSchedule) -> bool:
    """Whether no earlier objective gets worse; the guards are left as they were."""
    for guard in request.guards:
        before = guard.cost
        after = cost_after(problem, schedule, guard)
        for row, _ in _moves(problem, schedule):
            guard.move(row, int(problem.origin[row]))
        if after > before + _SAME * max(1.0, abs(before)):
            return False
    return True


def _better(problem: Problem, request: PlanRequest, one: Reassignment, other: Reassignment) -> Reassignment:
    return other if _rank(problem, request, other) < _rank(problem, request, one) else one


def _rank(problem: Problem, request: PlanRequest, found: Reassignment) -> tuple[float, int, int]:
    """Lower is better: cost with what the moves cost, evictions, prices."""
    rows = np.array([row for row, _ in _moves(problem, found.schedule)], dtype=np.int64)
    fees = int(problem.prices(rows).sum())
    return round(found.cost + request.move_cost * relative_price(fees), 6), len(rows), fees


def _moves(problem: Problem, schedule: WaveSchedule) -> Iterator[tuple[int, int]]:
    for wave in schedule.waves:
        for pod, node in wave:
            yield problem.row_of_movable[pod], node


def as_the_scheduler_likes(
    problem: Problem, schedule: WaveSchedule, state_of: Callable[[], ObjectiveState], deadline: Deadline
) -> WaveSchedule:
    """The same pods in the same order, each to the node that its scheduler likes best among those that cost least.

    The schedule itself where the new one would cost more, take more waves, or not be allowed.
    """
    if schedule.evict_first:
        return schedule  # there is no room elsewhere
    choice, state, planned, order = SchedulerChoice(problem, problem.start.copy()), state_of(), state_of(), []
    for pod, node in choice.walk(schedule):
        row = problem.row_of_movable[pod]
        target = node if deadline.is_over() else _liked(problem, choice, pod, node, state.change(row))
        order.append(choice.send(pod, target))
        state.move(row, target)
        planned.move(row, node)
    if state.cost > planned.cost or order == [move for wave in schedule.waves for move in wave]:
        return schedule
    waves = waves_in_order(problem, order)
    if waves is None or len(waves) > len(schedule.waves):
        return schedule
    found = WaveSchedule(tuple(waves))
    return schedule if replay(problem, found) else found


def _liked(problem: Problem, choice: SchedulerChoice, pod: int, planned: int, change: FloatArray) -> int:
    """The scheduler's choice if only the nodes that cost least were open; the planned one where it likes it as well."""
    is_open = problem.prediction.feasible(pod, choice.placement).copy()
    is_open[choice.placement.node_of[pod]] = False
    if not is_open.any():
        return planned
    best = choice.among(pod, is_open & (change <= change[is_open].min()))
    return planned if planned in best or not best else best[0]
