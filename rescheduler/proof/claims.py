"""Checks that the numbers a plan claims of itself agree with its moves and with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import UNSET

from rescheduler.model.plan import ObjectiveResult, Plan, Status
from rescheduler.proof.violation import Violation

MAKE_ROOM = "MakeRoom"


def check_claims(plan: Plan) -> Iterator[Violation]:
    """Value, bound, gap and status of each objective."""
    for result in plan.objectives:
        for problem in _problems(plan, result):
            yield Violation("Claims", f"objective {result.name}: {problem}")


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
