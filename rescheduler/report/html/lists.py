"""Machines, moves, places, refusals and warnings as lists of a page; long ones end with how many more there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UnsetType

from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.plan import Move, MoveOutcome, PlacementOutcome, Plan, PlannedPlacement, PlanResult, Refusal
from rescheduler.model.plan.what_if import AddedNode, NodeReplacement, WhatIf
from rescheduler.report.cells import cause, plural, subject
from rescheduler.report.plan.flows import Flow
from rescheduler.report.plan.moves import attempt_of, destination, why

MOST_MOVES = 3000
FEW_MOVES = 60
MOST_FLOWS = 40
MOST_REFUSALS_PER_RULE = 200
FEW_REFUSALS = 10
MOST_RULES = 100
MOST_WARNINGS = 200
MOST_MACHINES = 200


class Listing(NamedTuple):
    """A table that is folded away unless ``is_open``; ``left_out``: how many more of ``what`` there are."""

    summary: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    left_out: int
    what: str
    is_open: bool = False


class Refusals(NamedTuple):
    """A list for each rule, and how many rules are left out."""

    rules: Sequence[Listing]
    left_out: int


class WarningLines(NamedTuple):
    """The first warnings, and how many are left out."""

    shown: Sequence[str]
    left_out: int


def machines(plan: Plan | PlanResult) -> list[Listing]:
    """What would be sold and bought of a replacement, for how much; nothing where there is none."""
    if not isinstance(plan, Plan) or not isinstance(plan.what_if, WhatIf):
        return []
    question, figures = plan.what_if, plan.what_if.replacement
    if not isinstance(figures, NodeReplacement) or figures.new_cost is None:
        return []
    money = f"{plan.cost.currency} a month" if isinstance(plan.cost, Cost) else "a month"
    sold = [[name, f"{price:.2f}"] for name, price in figures.old_prices.items()]
    same = Counter(
        (_known(one.instance_type), _known(one.capacity_type), _known(one.zone), _known(one.node_pool), _price(one))
        for one in question.added_nodes
    )
    bought = [[*place, number, f"{price:.2f}", f"{number * price:.2f}"] for (*place, price), number in same.items()]
    count = len(question.added_nodes)
    headings = ["Type", "Capacity type", "Zone", "Pool", "Machines", "Each", money]
    return [
        _of_machines(f"{plural(len(sold), 'node')} sold: {figures.old_cost:.2f} {money}", ["Node", money], sold),
        _of_machines(f"{plural(count, 'machine')} bought: {figures.new_cost:.2f} {money}", headings, bought),
    ]


def _of_machines(summary: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Listing:
    return Listing(summary, headings, rows[:MOST_MACHINES], len(rows) - MOST_MACHINES, "machines", is_open=True)


def _price(machine: AddedNode) -> float:
    return machine.price if isinstance(machine.price, float) else 0.0


def _known(value: str | UnsetType) -> str:
    """A part of a machine's place, where it is told."""
    return value if isinstance(value, str) else ""


def moves(plan: Plan | PlanResult) -> Listing | None:
    """Every move with its reason."""
    if not plan.moves:
        return None
    headings = ["Wave", "Pod", "From", "To", *_outcome_heading(plan), "Why"]
    rows = [
        [move.wave, move.pod.key, move.from_node, destination(move), *_outcome(move), why(move)]
        for move in plan.moves[:MOST_MOVES]
    ]
    count = len(plan.moves)
    return Listing(plural(count, "move"), headings, rows, count - MOST_MOVES, "moves", count <= FEW_MOVES)


def placements(plan: Plan | PlanResult) -> Listing | None:
    """Every pending pod that gets a place."""
    if not plan.placements:
        return None
    headings = ["Pod", "Node", "Room is free", *_outcome_heading(plan)]
    rows = [
        [place.pod.key, place.node, f"after wave {place.wave}" if place.wave else "already", *_outcome(place)]
        for place in plan.placements[:MOST_MOVES]
    ]
    count = len(plan.placements)
    return Listing(plural(count, "place"), headings, rows, count - MOST_MOVES, "places", count <= FEW_MOVES)


def flow_list(flows: Sequence[Flow]) -> Listing:
    """The pods of one step, folded away; where they come from and go to."""
    rows = [[flow.pod.key, flow.origin or "pending", flow.target or "unknown"] for flow in flows[:MOST_FLOWS]]
    return Listing(plural(len(flows), "pod"), ["Pod", "From", "To"], rows, len(flows) - MOST_FLOWS, "pods")


def refusals(found: Sequence[Refusal]) -> Refusals:
    """What was considered and left alone, by rule."""
    by_rule: dict[str, list[Refusal]] = defaultdict(list)
    for refusal in found:
        by_rule[refusal.rule].append(refusal)
    is_open = len(found) <= FEW_REFUSALS
    rules = [_of_rule(rule, members, is_open) for rule, members in list(by_rule.items())[:MOST_RULES]]
    return Refusals(rules, len(by_rule) - MOST_RULES)


def _of_rule(rule: str, members: Sequence[Refusal], is_open: bool) -> Listing:
    rows = [[subject(one), cause(one)] for one in members[:MOST_REFUSALS_PER_RULE]]
    left_out = len(members) - MOST_REFUSALS_PER_RULE
    return Listing(f"{rule} ({len(members)})", ["What", "Why"], rows, left_out, "refusals", is_open)


def warnings(found: Sequence[str]) -> WarningLines:
    """What was read but could not be used, and the like."""
    return WarningLines(found[:MOST_WARNINGS], len(found) - MOST_WARNINGS)


def _outcome_heading(plan: Plan | PlanResult) -> list[str]:
    return ["Outcome"] if isinstance(plan, PlanResult) else []


def _outcome(item: Move | PlannedPlacement) -> list[str]:
    if not isinstance(item, MoveOutcome | PlacementOutcome):
        return []
    landed = f" on {item.landed_on}" if item.landed_on else ""
    return [f"{item.outcome.value}{landed}{attempt_of(item)}" + (f": {item.message}" if item.message else "")]
