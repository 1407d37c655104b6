"""One figure of the cluster: a row for each node with bars before and after, and arrows between the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rescheduler.model.objects.resources import PODS
from rescheduler.report.cells import plural
from rescheduler.report.flows import Flow
from rescheduler.report.html.arrows import arrows
from rescheduler.report.html.bars import bars_after, bars_before
from rescheduler.report.html.markup import text
from rescheduler.report.nodes import NodeUse

LEGEND = (
    '<p class="legend"><span><i class="s"></i> stays</span> <span><i class="o"></i> leaves</span> '
    '<span><i class="i"></i> arrives</span> <span><i class="p"></i> was pending</span> '
    "<span>bars: requests, as part of what the node offers</span></p>"
)
_MOST_NAMED = 3


@dataclass(frozen=True)
class Look:
    """The resources that a figure shows, and the nodes that are empty at its end for the first time."""

    resources: Sequence[str]
    emptied: frozenset[str]


def figure(uses: Sequence[NodeUse], flows: Sequence[Flow], look: Look, *, left_out: int) -> Iterator[str]:
    """Rows for ``uses`` and arrows for the ``flows`` between them; ``left_out``: how many more nodes change."""
    placed = [flow for flow in flows if flow.origin is None]
    first = 1 if placed else 0
    row_of = {use.node.name: first + at for at, use in enumerate(uses)}
    yield '<div class="n head"><div>Node</div><div>Before</div><div></div><div>After</div></div>'
    yield f'<div class="flow" style="--k:{len(look.resources)}">'
    picture, undrawn = arrows(flows, row_of, 0 if placed else None, first + len(uses))
    if placed:
        yield _pending_row(placed)
    yield from (_row(use, look) for use in uses)
    yield f"{picture}</div>"
    if left_out > 0:
        yield f'<p class="quiet">and {plural(left_out, "more node changes", "more nodes change")}</p>'
    if undrawn:
        yield f'<p class="quiet">{plural(undrawn, "pod has", "pods have")} no arrow here</p>'


def _row(use: NodeUse, look: Look) -> str:
    name = text(use.node.name)
    goal = " to" if use.arriving or use.placed else ""
    note = '<em class="mark">emptied</em> ' if use.node.name in look.emptied else ""
    return (
        f'<div class="n"><div class="name"><span title="{name}">{name}</span><small>{note}{_changes(use)}</small></div>'
        f'<div class="b">{bars_before(use, look.resources)}</div><div class="gap"></div>'
        f'<div class="a{goal}">{bars_after(use, look.resources)}</div></div>'
    )


def _changes(use: NodeUse) -> str:
    """How many pods come and go, and how many there are."""
    leaving, coming = use.leaving.get(PODS, 0), use.arriving.get(PODS, 0) + use.placed.get(PODS, 0)
    parts = [f"&minus;{leaving}"] * (leaving > 0) + [f"+{coming}"] * (coming > 0)
    return f"pods {use.before.get(PODS, 0)} &rarr; {use.after.get(PODS, 0)} ({' '.join(parts)})"


def _pending_row(placed: Sequence[Flow]) -> str:
    names = ", ".join(text(flow.pod.key) for flow in placed[:_MOST_NAMED])
    rest = f" and {len(placed) - _MOST_NAMED} more" if len(placed) > _MOST_NAMED else ""
    count = plural(len(placed), "pending pod")
    return (
        f'<div class="n"><div class="name"><span>{count}</span></div><div class="b who">{names}{rest}</div>'
        '<div class="gap"></div><div class="a"></div></div>'
    )
