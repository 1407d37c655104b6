"""Solves an assignment problem, puts its moves in an order, and cuts off what has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rescheduler.planning.assignment.assignment_problem import AssignmentProblem
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.prices import relative_price
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.solvers.assignment_model import AssignmentModel
from rescheduler.planning.solvers.lexicographic_solver import LexicographicSolver
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import sequence

MOST_CUTS = 60
CUTS_FOR_AN_ORDER = 12  # plans that are looked at to spare pods from leaving before they arrive
SHARES = (0.2, 0.1, 0.05)  # deterministic seconds of each stage as shares of the deadline


@dataclass(frozen=True)
class ExactAssignment:
    """``bound``: no plan costs less (None: nothing is proven). ``schedule``: the best plan that was found (None: none).

    ``is_best``: no plan is better in cost, then evictions, then prices; or in all of them weighed together.
    """

    bound: int | None
    schedule: WaveSchedule | None = None
    is_best: bool = False


@dataclass(frozen=True)
class _Attempt:
    """One look at the problem: what is proven of its cost, and the best moves (member to node) that were found.

    ``worth``: their cost, then their number; or both weighed together. Lower is better.
    """

    bound: int | None
    moves: dict[int, int] | None
    is_proven: bool
    worth: tuple[float, ...] = ()


def solve_exactly(
    problem: Problem,
    assignment: AssignmentProblem,
    deadline: Deadline,
    seed: int,
    *,
    move_cost: float = 0.0,
    most_cuts: int = MOST_CUTS,
    is_allowed: Callable[[WaveSchedule], bool] = lambda _: True,
) -> ExactAssignment:
    """The least cost, then the fewest evictions, then the cheapest pods; with ``move_cost`` all weighed together.

    ``is_allowed``: asked of every plan that has an order; one that it refuses is cut off too. A plan in which pods
    leave before they arrive is the answer only if no other that is as good is found.
    """
    bound: int | None = None
    is_bound_good = True
    cuts: list[dict[int, int]] = []
    exchange: ExactAssignment | None = None
    worth: tuple[float, ...] = ()
    while len(cuts) < most_cuts and not deadline.is_over():
        attempt = _look(assignment, cuts, deadline, seed, move_cost)
        if is_bound_good and attempt.bound is not None:
            bound = attempt.bound if bound is None else max(bound, attempt.bound)
        if attempt.moves is None or (exchange is not None and attempt.worth > worth):
            break
        moves = {int(problem.movable[assignment.rows[member]]): node for member, node in attempt.moves.items()}
        found = sequence(problem, Draft(moves), deadline)
        has_order = found.schedule is not None and not replay(problem, found.schedule)
        if has_order and found.schedule is not None and is_allowed(found.schedule):
            exact = ExactAssignment(bound, found.schedule, is_best=is_bound_good and attempt.is_proven)
            if not found.schedule.evict_first:
                return exact
            if exchange is None:
                exchange, worth, most_cuts = exact, attempt.worth, min(most_cuts, len(cuts) + CUTS_FOR_AN_ORDER)
        is_bound_good &= found.is_impossible or has_order  # else another order might do
        cuts.append(attempt.moves)
    return exchange or ExactAssignment(bound)


def _look(
    assignment: AssignmentProblem, cuts: list[dict[int, int]], deadline: Deadline, seed: int, move_cost: float
) -> _Attempt:
    model = _model(assignment, cuts)
    solver = LexicographicSolver(model.model, model.literals, seed)
    solver.hint(zip(model.literals, model.at_home, strict=True))
    stages = [model.cost, model.evictions, model.fees]
    seconds = max(0.5, deadline.seconds)
    bound, is_proven = None, True
    worth: list[float] = []
    for number, (objective, share) in enumerate(zip(stages, SHARES, strict=True)):
        stage = solver.run(
            objective, maximize=False, deadline=deadline.part(0.5), deterministic_seconds=seconds * share
        )
        if number == 0:
            bound = stage.bound
            if move_cost:
                break
        is_proven &= stage.is_proven and stage.value is not None
        worth.append(stage.value or 0)
    if move_cost:
        return _weighed(assignment, cuts, deadline, seed, move_cost, bound)
    moves = None if solver.solution is None else model.moves(solver.solution)
    return _Attempt(bound, moves, is_proven, tuple(worth[:2]))


def _weighed(
    assignment: AssignmentProblem,
    cuts: list[dict[int, int]],
    deadline: Deadline,
    seed: int,
    move_cost: float,
    bound: int | None,
) -> _Attempt:
    """The best moves when each costs something in units of the cost."""
    model = _model(assignment, cuts)
    solver = LexicographicSolver(model.model, model.literals, seed)
    solver.hint(zip(model.literals, model.at_home, strict=True))
    fees = [move_cost * relative_price(fee) for fee in assignment.fees]
    stage = solver.run(
        model.weighed(fees),
        maximize=False,
        deadline=deadline.part(0.5),
        deterministic_seconds=max(0.5, deadline.seconds) * SHARES[0],
    )
    moves = None if solver.solution is None else model.moves(solver.solution)
    return _Attempt(bound, moves, stage.is_proven and stage.value is not None, (stage.value or 0,))


def _model(assignment: AssignmentProblem, cuts: list[dict[int, int]]) -> AssignmentModel:
    model = AssignmentModel(assignment)
    for moves in cuts:
        model.forbid(moves)
    return model
