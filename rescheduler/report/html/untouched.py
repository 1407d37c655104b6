"""Bars of nodes that a plan leaves as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.objects.resources import PODS
from rescheduler.report.cells import plural
from rescheduler.report.html.bars import bars_before
from rescheduler.report.html.markup import folded, more, text
from rescheduler.report.nodes import SHOWN_FIRST, NodeUse

MOST_NODES = 300
FEW_NODES = 60


def untouched(uses: Sequence[NodeUse]) -> Iterator[str]:
    """The nodes in columns, folded away where the plan changes others; of many the first ones."""
    others = [use for use in uses if not use.pods_changed]
    if not others:
        return
    is_all = len(others) == len(uses)
    lines = ['<div class="others">', *map(_node, others[:MOST_NODES]), "</div>"]
    lines += more(len(others) - MOST_NODES, "nodes")
    yield from folded(plural(len(others), "node"), lines, is_open=is_all and len(others) <= FEW_NODES)


def _node(use: NodeUse) -> str:
    pods = plural(use.before.get(PODS, 0), "pod")
    name = text(use.node.name)
    bars = bars_before(use, SHOWN_FIRST)
    return f'<div class="other"><span title="{name}">{name}</span><small>{pods}</small>{bars}</div>'
