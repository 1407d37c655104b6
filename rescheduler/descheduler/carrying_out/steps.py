"""A foretold plan as one that can be carried out, and what became of it told in its own form."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, structs

from rescheduler.execution.run.move_news import MoveNews
from rescheduler.execution.run.resuming import rest_of
from rescheduler.extension_points import Clock, HearMoves
from rescheduler.model.plan.foretold_plan import ForetoldMove, ForetoldOutcome, ForetoldPlan, ForetoldResult
from rescheduler.model.plan.move_change import MoveState
from rescheduler.model.plan.plan import Landing, Move, MoveOutcome, OutcomeKind, Plan, PlanResult, Refusal

WAITS = "ReplacementWaits"
"""Rule of a victim that is not sent, since its replacement would wait for a node."""


def plan_to_carry_out(foretold: ForetoldPlan) -> Plan:
    """Its moves in their waves, but for those whose replacement would wait; these are refusals."""
    moves = [_step(move) for move in foretold.moves if move.landing is not Landing.PENDING]
    plan = Plan(
        snapshot=foretold.snapshot,
        objectives=foretold.objectives,
        refusals=tuple(_refusals(foretold)),
        warnings=foretold.warnings,
    )
    return rest_of(plan, moves, ())


def _step(move: ForetoldMove) -> Move:
    return Move(
        pod=move.pod,
        from_node=move.from_node,
        to_node=move.to_node or move.from_node,
        wave=move.wave,
        objective=move.objective,
        reason=move.message,
        landing=move.landing,
    )


def _refusals(foretold: ForetoldPlan) -> Iterator[Refusal]:
    for move in foretold.moves:
        if move.landing is Landing.PENDING:
            yield Refusal(WAITS, f"{move.pod.key}: {move.message}", pod=move.pod)
    for refusal in foretold.refusals:
        yield Refusal(refusal.rule, refusal.message, pod=refusal.pod)


def tell_waiting(foretold: ForetoldPlan, hear: HearMoves, clock: Clock) -> None:
    """Moves that are not made, since their replacements would wait, are dropped from the beginning."""
    waiting = [move for move in foretold.moves if move.landing is Landing.PENDING]
    news = MoveNews(Plan(foretold.snapshot, moves=tuple(map(_step, waiting))), hear, clock)
    news.planned()
    for move in waiting:
        news.reached(move.pod, MoveState.DROPPED, message=f"not evicted: {move.message}")


def told(foretold: ForetoldPlan, result: PlanResult) -> ForetoldResult:
    """What became of each move of a foretold plan."""
    outcome_of = {move.pod: move for move in result.moves}
    moves = tuple(_outcome(move, outcome_of.get(move.pod)) for move in foretold.moves)
    waiting = sum(move.landing is Landing.PENDING for move in moves)
    left = f"{waiting} not evicted, since their replacements would wait for a node" if waiting else ""
    return ForetoldResult(
        snapshot=foretold.snapshot,
        objectives=foretold.objectives,
        moves=moves,
        refusals=foretold.refusals,
        warnings=result.warnings,
        message=result.message or left,
    )


def _outcome(move: ForetoldMove, found: MoveOutcome | None) -> ForetoldOutcome:
    outcome, landed_on, message = OutcomeKind.NOT_ATTEMPTED, None, ""
    if found is not None:
        outcome, landed_on, message = found.outcome, found.landed_on, found.message
    if move.landing is Landing.PENDING:
        message = f"not evicted: {move.message}"
    if move.landing is Landing.NO_REPLACEMENT and outcome is OutcomeKind.LANDED_ELSEWHERE:
        outcome = OutcomeKind.LANDED
    fields = {name: value for name, value in structs.asdict(move).items() if name != "message"}
    return ForetoldOutcome(**fields, outcome=outcome, landed_on=landed_on, message=message)


def is_as_foretold(result: ForetoldResult) -> bool:
    """Whether every move ended as foretold, or elsewhere without harm."""
    return all(move.outcome.has_landed for move in result.moves)


def is_chosen(move: Move) -> bool:
    """Whether somebody else's rules chose the pod of a move."""
    return move.landing is not UNSET
