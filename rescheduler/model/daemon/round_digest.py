"""What is remembered of a round once its plan is forgotten: a line of the timeline, of a few hundred bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.attempts import newest
from rescheduler.model.plan.plan import (
    EMPTY_NODES,
    Move,
    MoveOutcome,
    OutcomeKind,
    PlacementOutcome,
    Plan,
    PlannedPlacement,
    PlanResult,
)

MOST_RULES: Final = 12
LONGEST_REASON: Final = 500


class RoundDigest(NamedTuple):
    """One round. Times in seconds since the epoch.

    ``helped`` of ``wanted`` pending pods get a place by the plan; ``placed`` of them have it. ``planned`` moves, of
    which ``evicted`` were sent and ``landed`` ended on a node. ``emptied``: nodes that the plan empties, or that were
    emptied where it was carried out. ``refused``: what each rule has left alone, the most first.
    """

    number: int
    started_at: float
    ended_at: float
    mode: str
    triggers: tuple[str, ...]
    plan_id: str
    helped: int
    wanted: int
    placed: int
    planned: int
    evicted: int
    landed: int
    emptied: int
    refused: tuple[tuple[str, int], ...]
    refused_in_all: int
    reason: str
    approved_by: str
    is_held: bool
    is_carried_out: bool


def digest_of(report: RoundReport) -> RoundDigest:
    """A round in short."""
    plan, result = report.plan, report.result
    moves = () if result is None else result.moves
    refused = Counter(refusal.rule for refusal in (() if plan is None else plan.refusals))
    helped, wanted = _helped(plan)
    return RoundDigest(
        number=report.number,
        started_at=report.started_at,
        ended_at=report.ended_at,
        mode=report.mode,
        triggers=tuple(dict.fromkeys(occasion.trigger for occasion in report.occasions)),
        plan_id=report.plan_id,
        helped=helped,
        wanted=wanted,
        placed=sum(place.outcome.has_landed for place in (() if result is None else result.placements)),
        planned=0 if plan is None else len(plan.moves),
        evicted=sum(move.outcome.has_landed or move.outcome is OutcomeKind.UNKNOWN for move in moves),
        landed=sum(move.outcome.has_landed for move in moves),
        emptied=len(_emptied(plan if result is None else result)),
        refused=tuple(refused.most_common(MOST_RULES)),
        refused_in_all=refused.total(),
        reason=report.reason[:LONGEST_REASON],
        approved_by=report.approved_by,
        is_held=report.is_held,
        is_carried_out=result is not None,
    )


def _helped(plan: Plan | None) -> tuple[int, int]:
    """Pending pods that get a place, and those that wait for one."""
    objectives = () if plan is None else plan.objectives
    asked = [one for one in objectives if isinstance(one.wanted, int) and isinstance(one.helped, int)]
    helped = sum(one.helped for one in asked if isinstance(one.helped, int))
    return helped, sum(one.wanted for one in asked if isinstance(one.wanted, int))


def _emptied(plan: Plan | PlanResult | None) -> set[str]:
    """Nodes that EmptyNodes takes pods off, and to which nobody comes; of a result only where all moves ended well."""
    if plan is None:
        return set()
    left = {move.from_node for move in plan.moves if move.objective == EMPTY_NODES}
    failed = {move.from_node for move in newest(plan.moves) if _is_short(move)}
    return left.difference(failed, _goals(plan.moves), _goals(plan.placements))


def _is_short(move: Move) -> bool:
    return isinstance(move, MoveOutcome) and not move.outcome.has_landed


def _goals(items: Sequence[Move | PlannedPlacement]) -> set[str]:
    """Nodes to which moves and placements lead, or have led."""
    found = {item.to_node if isinstance(item, Move) else item.node for item in items}
    return found.union(
        item.landed_on for item in items if isinstance(item, MoveOutcome | PlacementOutcome) and item.landed_on
    )
