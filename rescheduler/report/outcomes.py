"""Whether a plan that was carried out ended well."""

from __future__ import annotations

from rescheduler.model.plan import OutcomeKind, PlanResult

_HARMLESS = (OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE)


def is_as_planned(result: PlanResult) -> bool:
    """True if every move and every placement ended as planned, or elsewhere without harm.

    A placement that landed nowhere is harm, wherever the moves landed.
    """
    outcomes = [move.outcome for move in result.moves] + [place.outcome for place in result.placements]
    return all(outcome in _HARMLESS for outcome in outcomes)
