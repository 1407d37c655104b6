"""One figure of the cluster: a row for each node with bars before and after, and arrows between the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

from rescheduler.model.objects.resources import PODS
from rescheduler.model.printable import first_few
from rescheduler.report.cells import plural
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


MOST_ARROWS = 250
FEW_ARROWS = 40
_MOST_NAMED = 3
_THICKEST = 8.0
_ROW = 10  # height of a row in the drawing's own units; the page stretches it to the height of the figure


class Arrow(NamedTuple):
    """Pods with the same ends: where it starts and ends, downwards, and how thick it is, in the drawing's units."""

    start: float
    end: float
    width: float
    title: str
    was_pending: bool


class Arrows(NamedTuple):
    """A drawing of this height; ``are_many``: so many that they are drawn paler."""

    paths: Sequence[Arrow]
    height: int
    are_many: bool


def arrows(flows: Sequence[Flow], row_of: Mapping[str, int], pending_row: int | None, rows: int) -> tuple[Arrows, int]:
    """The drawing, and how many pods it leaves out since they come from or go to nodes without a row.

    ``row_of``: row of each node that has one; ``pending_row``: that of the pods that were pending.
    """
    bundles: dict[tuple[int, int], list[Flow]] = defaultdict(list)
    for flow in flows:
        start = pending_row if flow.origin is None else row_of.get(flow.origin)
        end = row_of.get(flow.target) if flow.target is not None else None
        if start is not None and end is not None:
            bundles[start, end].append(flow)
    drawn = sorted(bundles.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_ARROWS]
    paths = [_arrow(start, end, bundle) for (start, end), bundle in sorted(drawn, key=lambda item: item[0])]
    picture = Arrows(paths, rows * _ROW, len(drawn) > FEW_ARROWS)
    return picture, len(flows) - sum(len(bundle) for _, bundle in drawn)


def _arrow(start: int, end: int, bundle: Sequence[Flow]) -> Arrow:
    y1, y2 = ((row + 0.5) * _ROW for row in (start, end))
    width = min(_THICKEST, 1.5 + log2(len(bundle)))
    origin, target = bundle[0].origin, bundle[0].target
    title = f"{some_names(bundle)}: {'pending' if origin is None else origin} to {target}"
    return Arrow(y1, y2, width, title, origin is None)


def some_names(flows: Sequence[Flow]) -> str:
    """The first few pods by name, and how many more there are."""
    return first_few([flow.pod.key for flow in flows], _MOST_NAMED)
