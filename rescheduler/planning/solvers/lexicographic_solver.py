"""Solves one CP-SAT model for several objectives in order, keeping each one's value for the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.repeatable import RepeatableSolver

Expression: TypeAlias = cp_model.LinearExprT
"""What one stage optimises."""
Complete = Callable[[Sequence[int]], Iterable[tuple[cp_model.IntVar, int]]]


@dataclass(frozen=True)
class StageResult:
    """One objective's outcome. ``value`` is None if no solution was found; ``bound`` is proven, None if nothing is."""

    value: int | None
    bound: int | None
    is_proven: bool
    is_infeasible: bool = False


class LexicographicSolver:
    """Runs stages on one model; the best solution so far is the hint of the next stage.

    One worker and limits in deterministic time make the answer repeatable; the deadline is only the outer stop.
    """

    def __init__(
        self, model: cp_model.CpModel, variables: Sequence[cp_model.IntVar], seed: int, complete: Complete | None = None
    ) -> None:
        """``variables`` are all variables whose values are wanted; ``complete`` turns their values into a hint."""
        self._model = model
        self._variables = variables
        self._seed = seed
        self._complete: Complete = complete or (lambda values: zip(variables, values, strict=True))
        self.solution: list[int] | None = None

    def hint(self, pairs: Iterable[tuple[cp_model.IntVar, int]]) -> None:
        """Suggest values for variables."""
        self._model.clear_hints()  # type: ignore[no-untyped-call]
        for variable, value in pairs:
            self._model.add_hint(variable, value)

    def run(
        self,
        objective: Expression,
        *,
        maximize: bool,
        deadline: Deadline,
        deterministic_seconds: float,
        kept: Expression | None = None,
    ) -> StageResult:
        """Optimise one objective and, if it has a value, keep it from getting worse from now on.

        ``kept``: keep the value that this has then in place of the objective's.
        """
        if deadline.is_over():
            return StageResult(None, None, is_proven=False)
        if maximize:
            self._model.maximize(objective)
        else:
            self._model.minimize(objective)
        solver = RepeatableSolver(self._seed, deadline, deterministic_seconds)
        solver.parameters.linearization_level = 2
        status = solver.solve(self._model)
        solver.count_work()
        if status == cp_model.INFEASIBLE:
            return StageResult(None, None, is_proven=True, is_infeasible=True)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return StageResult(None, None, is_proven=False)
        bound: int | None = _whole(solver.best_objective_bound, round_up=not maximize)
        self.solution = [solver.value(variable) for variable in self._variables]
        value = round(solver.objective_value)
        if status != cp_model.OPTIMAL and maximize and bound is not None and bound <= value:
            bound = None  # a solver that is stopped before it has proven anything tells a bound that means nothing
        if kept is None:
            self._keep(objective, value, maximize=maximize, is_proven=status == cp_model.OPTIMAL)
        else:
            self._model.add(kept == solver.value(kept))
        self.hint(self._complete(self.solution))
        return StageResult(value, bound, is_proven=status == cp_model.OPTIMAL)

    def _keep(self, objective: Expression, value: int, *, maximize: bool, is_proven: bool) -> None:
        if is_proven:
            self._model.add(objective == value)
        elif maximize:
            self._model.add(objective >= value)
        else:
            self._model.add(objective <= value)


def _whole(bound: float, *, round_up: bool) -> int:
    """A valid whole bound for a whole objective: solver bounds carry rounding noise."""
    noise = 1e-6 * max(1.0, abs(bound))
    return -int(-(bound - noise) // 1) if round_up else int((bound + noise) // 1)
