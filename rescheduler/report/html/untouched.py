"""Bars of nodes that a plan leaves as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rescheduler.model.objects.resources import PODS
from rescheduler.report.cells import plural
from rescheduler.report.html.bars import Bar, bars_before
from rescheduler.report.plan.nodes import SHOWN_FIRST, NodeUse, measured_resources

MOST_NODES = 10_000
MOST_WITH_BARS = 300
FEW_NODES = 60


class UntouchedNode(NamedTuple):
    """A node with its pods counted and its bars."""

    name: str
    pods: str
    bars: Sequence[Bar]


class Untouched(NamedTuple):
    """The first of such nodes, and how many more there are; of many only the first have bars, the others are named."""

    summary: str
    nodes: Sequence[UntouchedNode]
    left_out: int
    is_open: bool


def untouched(uses: Sequence[NodeUse]) -> Untouched | None:
    """The nodes in columns, folded away where the plan changes others; of many the first ones."""
    others = [use for use in uses if not use.pods_changed]
    if not others:
        return None
    shown = (*SHOWN_FIRST, *measured_resources(uses))
    nodes = [
        UntouchedNode(
            use.node.name,
            plural(use.before.get(PODS, 0), "pod"),
            bars_before(use, shown) if at < MOST_WITH_BARS else (),
        )
        for at, use in enumerate(others[:MOST_NODES])
    ]
    is_open = len(others) == len(uses) and len(others) <= FEW_NODES
    return Untouched(plural(len(others), "node"), nodes, len(others) - MOST_NODES, is_open)
