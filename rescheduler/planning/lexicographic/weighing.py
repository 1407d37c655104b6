"""Neighbouring objectives with weights, planned for together: the best weighted sum over several ways to plan them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations

from rescheduler.model.plan.plan import Status
from rescheduler.planning.lexicographic.goal import Goal
from rescheduler.planning.problem.plan_request import ObjectivePlan
from rescheduler.planning.problem.problem import Problem

MOST_ORDERS = 6
_SAME = 1e-9


@dataclass(frozen=True)
class Candidate:
    """One way to plan for all goals: ``answers`` by name in the order in which they were planned, each after the last.

    ``gains``: by name, how much all moves together improve each goal; ``total``: their weighted sum, less the cost of
    the moves.
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


def orders_of(goals: Sequence[Goal]) -> Iterator[tuple[Goal, ...]]:
    """Orders in which goals may be planned, in part too: one alone may reach more than all."""
    yield from islice(permutations(goals), MOST_ORDERS)
    for goal in goals if len(goals) > 1 else ():
        yield (goal,)


def weighed(goals: Sequence[Goal], problem: Problem, answers: dict[str, ObjectivePlan]) -> Candidate:
    """What the moves of these answers, planned one after another from the problem's start, are worth to all goals."""
    gains = {}
    for goal in goals:
        assert goal.state is not None
        state = goal.state(problem)
        before = state.cost
        for answer in answers.values():
            for move in answer.moves:
                state.move(problem.row_of_movable[move.pod], move.to_node)
        gains[goal.name] = before - state.cost
    total = sum((goal.weight or 1.0) * gains[goal.name] for goal in goals)
    cost = sum(
        (goal.weight or 1.0) * goal.move_cost * len(answers[goal.name].moves) for goal in goals if goal.name in answers
    )
    return Candidate(answers, gains, total - cost)


def as_told(
    goals: Sequence[Goal], best: Candidate, alone: dict[str, ObjectivePlan], idle: dict[str, ObjectivePlan]
) -> list[tuple[Goal, ObjectivePlan]]:
    """Each goal in the order of planning, with what it reaches in the end, against its own bound.

    ``alone``: what each goal reached and proved by itself; ``idle``: what it is worth to move nobody.
    """
    of_name = {goal.name: goal for goal in goals}
    told = []
    for name in [*best.answers, *(name for name in of_name if name not in best.answers)]:
        goal, planned = of_name[name], best.answers.get(name, idle[name])
        sign = 1.0 if goal.is_better_higher else -1.0
        value = idle[name].value + sign * best.gains[name]
        bound = alone[name].bound
        if bound is not None and sign * (value - bound) > _SAME * max(1.0, abs(bound)):
            bound = None  # alone the goal keeps rules that others need not
        is_proven = bound is not None and abs(value - bound) <= _SAME * max(1.0, abs(bound))
        weight = goal.weight or 1.0
        note = f"weight {weight:g}: all moves together gain {best.gains[name]:g}; alone its bound is {_shown(bound)}"
        answer = replace(
            planned,
            value=value,
            bound=value if is_proven else bound,
            status=Status.OPTIMAL if is_proven else Status.FEASIBLE,
            message=f"{planned.message}; {note}",
        )
        told.append((goal, answer))
    return told


def _shown(bound: float | None) -> str:
    return "not known" if bound is None else f"{bound:g}"
