"""Whether a plan that was carried out ended well."""

from __future__ import annotations

from rescheduler.model.plan import OutcomeKind, PlanResult

_HARMLESS = (OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE)


def is_as_planned(result: PlanResult) -> bool:
    """True if every move and every placement ended as planned, or elsewhere without harm.

    A placement that landed nowhere is harm, wherever the moves landed, and so is a pod that landed on a node which was
    to be empty.
    """
    empty = _to_be_empty(result)
    ends = [(move.outcome, move.landed_on) for move in result.moves]
    ends += [(place.outcome, place.landed_on) for place in result.placements]
    return all(outcome in _HARMLESS and landed_on not in empty for outcome, landed_on in ends)


def _to_be_empty(result: PlanResult) -> set[str]:
    """Nodes that EmptyNodes takes pods off and that nobody is sent to."""
    emptied = {move.from_node for move in result.moves if move.objective == "EmptyNodes"}
    return emptied.difference([move.to_node for move in result.moves], [place.node for place in result.placements])
