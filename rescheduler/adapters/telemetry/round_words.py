"""What became of a round, in one word out of a few: for log lines, metrics and traces."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from rescheduler.model.plan import OutcomeKind, Plan
from rescheduler.model.round_report import RoundReport

FAILED: Final = "failed"
"""No plan could be made."""
NOTHING: Final = "nothing"
"""The plan is empty."""
PLANNED: Final = "planned"
"""There is a plan, and nothing was carried out: a dry run, an approval that is awaited, a freeze."""
STOPPED: Final = "stopped"
"""Carried out in part."""
DONE: Final = "done"
"""Carried out whole."""
OUTCOMES: Final = (DONE, STOPPED, PLANNED, NOTHING, FAILED)
EVICTED: Final = frozenset({OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE, OutcomeKind.UNKNOWN})
"""Outcomes of moves whose pod has left, or may have."""


def outcome_of(report: RoundReport) -> str:
    """One of ``OUTCOMES``."""
    if report.plan is None:
        return FAILED
    if report.result is not None:
        return STOPPED if report.reason else DONE
    return PLANNED if report.plan.moves or report.plan.placements else NOTHING


def wanted_and_helped(plan: Plan) -> tuple[int, int]:
    """Pending pods that were to be helped, and those that get a place."""
    wanted = helped = 0
    for objective in plan.objectives:
        wanted += 0 if objective.wanted is UNSET else objective.wanted
        helped += 0 if objective.helped is UNSET else objective.helped
    return wanted, helped
