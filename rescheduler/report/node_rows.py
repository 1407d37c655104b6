"""Nodes before and after a plan as a table; those that change most first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from rich.console import RenderableType

from rescheduler.model.plan import Plan, PlanResult
from rescheduler.model.resources import PODS
from rescheduler.report.cells import cell, plural, table
from rescheduler.report.node_use import NodeUse, in_one_unit, resources_shown

MOST_NODES_SHOWN = 20


def most_changed_first(
    uses: Sequence[NodeUse], plan: Plan | PlanResult, emptied: Collection[str]
) -> tuple[NodeUse, ...]:
    """Nodes that are emptied, then those that pending pods get, then the others by how many pods change."""
    given = {place.node for place in plan.placements}
    empty = frozenset(emptied)

    def rank(use: NodeUse) -> tuple[bool, bool, int, str]:
        name = use.node.name
        return name not in empty, name not in given, -use.pods_changed, name

    return tuple(sorted(uses, key=rank))


def node_rows(
    uses: Sequence[NodeUse], plan: Plan | PlanResult, emptied: Collection[str], *, wide: bool
) -> Iterator[RenderableType]:
    """The table, and how many nodes are left out of it."""
    resources = resources_shown(uses)
    shown = most_changed_first(uses, plan, emptied)[: None if wide else MOST_NODES_SHOWN]
    marks = _marks(plan, emptied)
    has_marks = any(use.node.name in marks for use in shown)
    headings = ["NODE", *(name.upper() for name in resources), "PODS", *(["NOTE"] if has_marks else [])]
    rows = []
    for use in shown:
        note = [marks.get(use.node.name, "")] if has_marks else []
        rows.append([use.node.name, *(_change(use, name) for name in (*resources, PODS)), *note])
    yield table(headings, rows)
    if len(shown) < len(uses):
        yield cell(f"and {plural(len(uses) - len(shown), 'more node')} that change; -o wide lists each of them.", "dim")


def _marks(plan: Plan | PlanResult, emptied: Collection[str]) -> dict[str, str]:
    placed: dict[str, list[str]] = defaultdict(list)
    for place in plan.placements:
        placed[place.node].append(place.pod.key)
    marks = {
        node: f"for {keys[0]}" + (f" and {len(keys) - 1} more" if len(keys) > 1 else "")
        for node, keys in placed.items()
    }
    return {**marks, **dict.fromkeys(emptied, "emptied")}


def _change(use: NodeUse, name: str) -> str:
    before, after = (in_one_unit(name, amounts.get(name, 0)) for amounts in (use.before, use.after))
    change = before if before == after else f"{before} -> {after}"
    return f"{change} of {in_one_unit(name, use.offered.get(name, 0))}"
