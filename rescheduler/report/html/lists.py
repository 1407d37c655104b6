"""Moves, places, refusals and warnings as lists of a page; long ones end with how many more there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rescheduler.model.plan.plan import Move, MoveOutcome, PlacementOutcome, Plan, PlannedPlacement, PlanResult, Refusal
from rescheduler.report.cells import plural, subject
from rescheduler.report.flows import Flow
from rescheduler.report.html.markup import folded, more, table, text
from rescheduler.report.moves import why

MOST_MOVES = 3000
FEW_MOVES = 60
MOST_FLOWS = 40
MOST_REFUSALS_PER_RULE = 200
FEW_REFUSALS = 10
MOST_RULES = 100
MOST_WARNINGS = 200


def moves(plan: Plan | PlanResult) -> Iterator[str]:
    """Every move with its reason."""
    if not plan.moves:
        return
    is_done = isinstance(plan, PlanResult)
    headings = ["Wave", "Pod", "From", "To", *(["Outcome"] if is_done else []), "Why"]
    rows = (
        [move.wave, move.pod.key, move.from_node, move.to_node, *_outcome(move), why(move)]
        for move in plan.moves[:MOST_MOVES]
    )
    lines = [*table(headings, rows), *more(len(plan.moves) - MOST_MOVES, "moves")]
    yield from folded(plural(len(plan.moves), "move"), lines, is_open=len(plan.moves) <= FEW_MOVES)


def placements(plan: Plan | PlanResult) -> Iterator[str]:
    """Every pending pod that gets a place."""
    if not plan.placements:
        return
    headings = ["Pod", "Node", "Room is free", *(["Outcome"] if isinstance(plan, PlanResult) else [])]
    rows = (
        [place.pod.key, place.node, f"after wave {place.wave}" if place.wave else "already", *_outcome(place)]
        for place in plan.placements[:MOST_MOVES]
    )
    lines = [*table(headings, rows), *more(len(plan.placements) - MOST_MOVES, "places")]
    yield from folded(plural(len(plan.placements), "place"), lines, is_open=len(plan.placements) <= FEW_MOVES)


def flow_list(flows: Sequence[Flow]) -> Iterator[str]:
    """The pods of one step, folded away; where they come from and go to."""
    rows = ([flow.pod.key, flow.origin or "pending", flow.target or "unknown"] for flow in flows[:MOST_FLOWS])
    lines = [*table(["Pod", "From", "To"], rows), *more(len(flows) - MOST_FLOWS, "pods")]
    yield from folded(plural(len(flows), "pod"), lines)


def refusals(found: Sequence[Refusal]) -> Iterator[str]:
    """What was considered and left alone, by rule."""
    by_rule: dict[str, list[Refusal]] = defaultdict(list)
    for refusal in found:
        by_rule[refusal.rule].append(refusal)
    for rule, members in list(by_rule.items())[:MOST_RULES]:
        rows = ([subject(one), one.message] for one in members[:MOST_REFUSALS_PER_RULE])
        lines = [*table(["What", "Why"], rows), *more(len(members) - MOST_REFUSALS_PER_RULE, "refusals")]
        yield from folded(f"{text(rule)} ({len(members)})", lines, is_open=len(found) <= FEW_REFUSALS)
    yield from more(len(by_rule) - MOST_RULES, "rules")


def warnings(found: Sequence[str]) -> Iterator[str]:
    """What was read but could not be used, and the like."""
    yield from (f'<p class="warning">{text(warning)}</p>' for warning in found[:MOST_WARNINGS])
    yield from more(len(found) - MOST_WARNINGS, "warnings")


def _outcome(item: Move | PlannedPlacement) -> list[str]:
    if not isinstance(item, MoveOutcome | PlacementOutcome):
        return []
    landed = f" on {item.landed_on}" if item.landed_on else ""
    return [f"{item.outcome.value}{landed}" + (f": {item.message}" if item.message else "")]
