"""Moves as arrows between the rows of a figure, those with the same ends as one that is thicker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

from rescheduler.report.plan.flows import Flow

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
    names = ", ".join(flow.pod.key for flow in flows[:_MOST_NAMED])
    return names + (f" and {len(flows) - _MOST_NAMED} more" if len(flows) > _MOST_NAMED else "")
