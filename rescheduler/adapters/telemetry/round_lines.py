"""A round as lines of a log: one for the whole, and for those who look closely one for each move and each refusal."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET

from rescheduler.adapters.telemetry.log_lines import Line
from rescheduler.adapters.telemetry.round_words import outcome_of
from rescheduler.model.plan import Move, ObjectiveResult, Refusal
from rescheduler.model.round_report import RoundReport

MOST_REFUSALS: Final = 1000
"""A large cluster has far more of them than anybody reads, and the loop waits while they are written."""


def round_line(report: RoundReport) -> Line:
    """Why it ran, what it planned, what became of it, and why nothing or no more was done."""
    plan, result = report.plan, report.result
    fields: dict[str, Any] = {
        "round": report.number,
        "outcome": outcome_of(report),
        "triggers": [occasion.trigger for occasion in report.occasions],
        "mode": report.mode,
        "policy_id": report.policy_id,
        "plan": report.plan_id,
        "planned": 0 if plan is None else len(plan.moves),
        "helped": 0 if plan is None else len(plan.placements),
        "refusals": 0 if plan is None else len(plan.refusals),
        "objectives": [] if plan is None else [objective_fields(objective) for objective in plan.objectives],
        "outcomes": None if result is None else dict(Counter(move.outcome.value for move in result.moves)),
        "reason": report.reason,
        "approved_by": report.approved_by,
        "seconds": round(report.ended_at - report.started_at, 3),
        "steps": {step: round(seconds, 3) for step, seconds in report.seconds.items()},
    }
    kept = {key: value for key, value in fields.items() if value not in ("", None, [], {})}
    return Line(logging.WARNING if plan is None else logging.INFO, "round ended", kept)


def objective_fields(objective: ObjectiveResult) -> dict[str, Any]:
    """What one objective reached and what is proven about it."""
    fields: dict[str, Any] = {
        "name": objective.name,
        "status": objective.status.value,
        "value": objective.value,
        "bound": objective.bound,
        "gap": objective.gap,
        "unit": objective.unit,
    }
    if objective.wanted is not UNSET:
        fields |= {"helped": objective.helped, "wanted": objective.wanted}
    return fields


def detail_lines(report: RoundReport) -> Iterator[Line]:
    """Each planned move, each place for a pending pod, and each refusal; of very many refusals the first."""
    if report.plan is None:
        return
    about = {"round": report.number, "plan": report.plan_id}
    for move in report.plan.moves:
        yield Line(logging.DEBUG, "move planned", {**about, **_of_move(move)})
    for place in report.plan.placements:
        fields = {**about, "pod": place.pod.key, "node": place.node, "wave": place.wave}
        yield Line(logging.DEBUG, "place planned", fields)
    refusals = report.plan.refusals
    for refusal in refusals[:MOST_REFUSALS]:
        yield Line(logging.DEBUG, "left alone", {**about, **_of_refusal(refusal)})
    if len(refusals) > MOST_REFUSALS:
        yield Line(logging.DEBUG, "more left alone", {**about, "count": len(refusals) - MOST_REFUSALS})


def _of_move(move: Move) -> dict[str, Any]:
    return {
        "pod": move.pod.key,
        "from_node": move.from_node,
        "to_node": move.to_node,
        "wave": move.wave,
        "objective": move.objective,
        "reason": move.reason,
    }


def _of_refusal(refusal: Refusal) -> dict[str, Any]:
    subject: dict[str, Any] = {}
    if refusal.pod is not UNSET:
        subject["pod"] = refusal.pod.key
    if refusal.node is not UNSET:
        subject["node"] = refusal.node
    return {**subject, "rule": refusal.rule, "message": refusal.message}
