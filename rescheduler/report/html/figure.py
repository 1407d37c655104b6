"""One figure of the cluster: a row for each node with bars before and after, and arrows between the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rescheduler.model.objects.resources import PODS
from rescheduler.report.cells import plural
from rescheduler.report.html.arrows import Arrows, arrows, some_names
from rescheduler.report.html.bars import Bar, bars_after, bars_before
from rescheduler.report.plan.flows import Flow
from rescheduler.report.plan.nodes import NodeUse


@dataclass(frozen=True)
class Look:
    """The resources that a figure shows, and the nodes that are empty at its end for the first time."""

    resources: Sequence[str]
    emptied: frozenset[str]


class NodeRow(NamedTuple):
    """One node: how many pods come and go, its bars, and whether arrows end here."""

    name: str
    changes: str
    before: Sequence[Bar]
    after: Sequence[Bar]
    is_emptied: bool
    is_goal: bool


class PendingRow(NamedTuple):
    """The row above all nodes, from which pending pods come."""

    pods: str
    names: str


class NodeFigure(NamedTuple):
    """Rows, the arrows between them, and notes on what is not drawn."""

    bars_of_a_row: int
    pending: PendingRow | None
    rows: Sequence[NodeRow]
    arrows: Arrows
    notes: Sequence[str]


def figure(uses: Sequence[NodeUse], flows: Sequence[Flow], look: Look, *, left_out: int) -> NodeFigure:
    """Rows for ``uses`` and arrows for the ``flows`` between them; ``left_out``: how many more nodes change."""
    placed = [flow for flow in flows if flow.origin is None]
    first = 1 if placed else 0
    row_of = {use.node.name: first + at for at, use in enumerate(uses)}
    picture, undrawn = arrows(flows, row_of, 0 if placed else None, first + len(uses))
    pending = PendingRow(plural(len(placed), "pending pod"), some_names(placed)) if placed else None
    notes = [f"and {plural(left_out, 'more node changes', 'more nodes change')}"] if left_out > 0 else []
    if undrawn:
        notes.append(f"{plural(undrawn, 'pod has', 'pods have')} no arrow here")
    return NodeFigure(len(look.resources), pending, [_row(use, look) for use in uses], picture, notes)


def _row(use: NodeUse, look: Look) -> NodeRow:
    return NodeRow(
        name=use.node.name,
        changes=_changes(use),
        before=bars_before(use, look.resources),
        after=bars_after(use, look.resources),
        is_emptied=use.node.name in look.emptied,
        is_goal=bool(use.arriving or use.placed),
    )


def _changes(use: NodeUse) -> str:
    """How many pods come and go, and how many there are."""
    leaving, coming = use.leaving.get(PODS, 0), use.arriving.get(PODS, 0) + use.placed.get(PODS, 0)
    parts = [f"\N{MINUS SIGN}{leaving}"] * (leaving > 0) + [f"+{coming}"] * (coming > 0)
    return f"pods {use.before.get(PODS, 0)} \N{RIGHTWARDS ARROW} {use.after.get(PODS, 0)} ({' '.join(parts)})"
