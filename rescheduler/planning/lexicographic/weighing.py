"""Neighbouring objectives with weights, planned for together: the best weighted sum over several ways to plan them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations

from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan
from rescheduler.planning.problem.problem import Problem

MOST_ORDERS = 6
_SAME = 1e-9


@dataclass(frozen=True)
class Candidate:
    """One way to plan for all objectives: ``answers`` by name in the order of planning, each after the last.

    ``gains``: by name, how much all moves together improve each objective; ``total``: their weighted sum, less the cost
    of the moves.
    """

    answers: dict[str, ObjectivePlan]
    gains: dict[str, float]
    total: float

    def is_better_than(self, other: Candidate) -> bool:
        """A higher sum; at equal sums fewer evictions."""
        if abs(self.total - other.total) > _SAME * max(1.0, abs(other.total)):
            return self.total > other.total
        return self._evictions() < other._evictions()

    def _evictions(self) -> int:
        return sum(len(answer.moves) for answer in self.answers.values())


def orders_of(objectives: Sequence[PlanningObjective]) -> Iterator[tuple[PlanningObjective, ...]]:
    """Orders in which objectives may be planned, in part too: one alone may reach more than all."""
    yield from islice(permutations(objectives), MOST_ORDERS)
    for objective in objectives if len(objectives) > 1 else ():
        yield (objective,)


def weighed(objectives: Sequence[PlanningObjective], problem: Problem, answers: dict[str, ObjectivePlan]) -> Candidate:
    """What the moves of these answers, planned one after another from the start, are worth to all objectives."""
    gains = {}
    for objective in objectives:
        state = objective.state(problem)
        before = state.cost
        for answer in answers.values():
            for move in answer.moves:
                state.move(problem.row_of_movable[move.pod], move.to_node)
        gains[objective.name] = before - state.cost
    total = sum((objective.weight or 1.0) * gains[objective.name] for objective in objectives)
    cost = sum(
        (objective.weight or 1.0) * objective.move_cost * len(answers[objective.name].moves)
        for objective in objectives
        if objective.name in answers
    )
    return Candidate(answers, gains, total - cost)


def as_told(
    objectives: Sequence[PlanningObjective],
    best: Candidate,
    alone: dict[str, ObjectivePlan],
    idle: dict[str, ObjectivePlan],
) -> list[tuple[PlanningObjective, ObjectivePlan]]:
    """Each objective in the order of planning, with what it reaches in the end, against its own bound.

    ``alone``: what each objective reached and proved by itself; ``idle``: what it is worth to move nobody.
    """
    of_name = {objective.name: objective for objective in objectives}
    told = []
    for name in [*best.answers, *(name for name in of_name if name not in best.answers)]:
        objective, planned = of_name[name], best.answers.get(name, idle[name])
        sign = 1.0 if objective.is_better_higher else -1.0
        value = idle[name].value + sign * best.gains[name]
        bound = alone[name].bound
        if bound is not None and sign * (value - bound) > _SAME * max(1.0, abs(bound)):
            bound = None  # alone the objective keeps rules that others need not
        is_proven = bound is not None and abs(value - bound) <= _SAME * max(1.0, abs(bound))
        weight = objective.weight or 1.0
        note = f"weight {weight:g}: all moves together gain {best.gains[name]:g}; alone its bound is {_shown(bound)}"
        answer = replace(
            planned,
            value=value,
            bound=value if is_proven else bound,
            status=Status.OPTIMAL if is_proven else Status.FEASIBLE if alone[name].is_judged else Status.UNKNOWN,
            is_judged=alone[name].is_judged,
            message=f"{planned.message}; {note}",
        )
        told.append((objective, answer))
    return told


def _shown(bound: float | None) -> str:
    return "not known" if bound is None else f"{bound:g}"
