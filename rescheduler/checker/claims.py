"""Checks that the numbers a plan claims of itself agree with its moves and with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msgspec import UNSET

from rescheduler.checker.recounts.recounts import Recount
from rescheduler.checker.violation import Violation
from rescheduler.model.plan.plan import ObjectiveResult, Plan, Status

MAKE_ROOM = "MakeRoom"
TOLERANCE = 1e-6
"""Of values that are sums of fractions, relative."""


def check_claims(plan: Plan, recounts: Mapping[str, Recount]) -> Iterator[Violation]:
    """Value, bound, gap and status of each objective; ``recounts``: what the whole plan really reaches, by name."""
    for result in plan.objectives:
        recount = recounts.get(result.name)
        problems = [*_problems(plan, result), *(_differences(plan, result, recount) if recount is not None else ())]
        for problem in problems:
            yield Violation("Claims", f"objective {result.name}: {problem}")


def _differences(plan: Plan, result: ObjectiveResult, recount: Recount) -> Iterator[str]:
    """What is claimed against what is counted; further objectives may have improved it, never made it worse."""
    yield from recount.broken(plan)
    if result.value is None or recount.reached is None:
        return
    sign = 1.0 if recount.is_better_higher else -1.0
    least = TOLERANCE * max(1.0, abs(result.value))
    if result.bound is not None and sign * (result.value - result.bound) > least:
        yield f"value {result.value:g} is better than the bound {result.bound:g}, which no plan is to exceed"
    counted = recount.reached(plan)
    surplus = sign * (counted - result.value)
    if surplus < -least or (surplus > least and len(plan.objectives) == 1):
        yield f"value {result.value:g}, and {counted:g} by recount"


def _problems(plan: Plan, result: ObjectiveResult) -> Iterator[str]:
    if result.name == MAKE_ROOM:
        yield from _make_room_problems(plan, result)
    value, bound, gap = result.value, result.bound, result.gap
    if any(number is not None and not math.isfinite(number) for number in (value, bound, gap)):
        yield f"value {value}, bound {bound} and gap {gap} must be finite"
    elif value is None or bound is None:
        if gap is not None:
            yield f"a gap of {gap} without a value and a bound"
    elif gap is None or not math.isclose(gap, abs(value - bound) / max(1.0, abs(bound)), abs_tol=1e-4):
        yield f"gap {gap} is not |value - bound| / max(1, |bound|) of value {value} and bound {bound}"
    if result.status is Status.OPTIMAL and (value is None or value != bound):
        yield f"OPTIMAL with value {value} and bound {bound}"


def _make_room_problems(plan: Plan, result: ObjectiveResult) -> Iterator[str]:
    moves = sum(move.objective == MAKE_ROOM for move in plan.moves)
    value = 0 if result.value is None else result.value
    if value != moves:
        yield f"value {result.value}, and {moves} moves"
    if result.bound is not None and result.bound > value:
        yield f"bound {result.bound} above the {moves} evictions found"
    if result.helped is not UNSET and result.helped != len(plan.placements):
        yield f"helped {result.helped}, and {len(plan.placements)} placements"
    if result.helped is UNSET or result.wanted is UNSET:
        return
    if result.helped > result.wanted:
        yield f"helped {result.helped} of {result.wanted} wanted"
    if result.status is Status.INFEASIBLE and result.helped == result.wanted:
        yield "INFEASIBLE, and yet all are helped"
