"""Moves as arrows between the rows of a figure, those with the same ends as one that is thicker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log2

from rescheduler.report.flows import Flow
from rescheduler.report.html.markup import text

MOST_ARROWS = 250
FEW_ARROWS = 40
_MOST_NAMED = 3
_THICKEST = 8.0
_ROW = 10  # height of a row in the drawing's own units; the page stretches it to the height of the figure


def arrows(flows: Sequence[Flow], row_of: Mapping[str, int], pending_row: int | None, rows: int) -> tuple[str, int]:
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
    paths = "".join(_path(start, end, bundle) for (start, end), bundle in sorted(drawn, key=lambda item: item[0]))
    many = " many" if len(drawn) > FEW_ARROWS else ""
    picture = (
        f'<svg class="arrows{many}" viewBox="0 0 100 {rows * _ROW}" preserveAspectRatio="none" role="img"'
        f' aria-label="moves as arrows from the left to the right">{paths}</svg>'
    )
    return picture, len(flows) - sum(len(bundle) for _, bundle in drawn)


def _path(start: int, end: int, bundle: Sequence[Flow]) -> str:
    y1, y2 = ((row + 0.5) * _ROW for row in (start, end))
    width = min(_THICKEST, 1.5 + log2(len(bundle)))
    kind = ' class="p"' if bundle[0].origin is None else ""
    names = ", ".join(text(flow.pod.key) for flow in bundle[:_MOST_NAMED])
    rest = f" and {len(bundle) - _MOST_NAMED} more" if len(bundle) > _MOST_NAMED else ""
    whence = "pending" if bundle[0].origin is None else text(bundle[0].origin)
    title = f"{names}{rest}: {whence} to {text(bundle[0].target)}"
    return (
        f'<path{kind} stroke-width="{width:.3g}" d="M0 {y1:g}C55 {y1:g} 45 {y2:g} 100 {y2:g}">'
        f"<title>{title}</title></path>"
    )
