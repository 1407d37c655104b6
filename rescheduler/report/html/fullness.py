"""How many nodes are how full, before and after: the whole cluster at a glance, however large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rescheduler.report.plan.nodes import IN_USE, SHOWN_FIRST, NodeUse, measured_resources

FEWEST_NODES = 12
TENTHS = 10
_LABELS = (*(f"{10 * tenth} to {10 * tenth + 10}%" for tenth in range(TENTHS)), "more than 100%")


class Chart(NamedTuple):
    """Nodes by the share of one resource: label, count before, count after; the largest count.

    ``heading``: which resource, and whether what is requested or what is in use.
    """

    heading: str
    rows: Sequence[tuple[str, int, int]]
    most: int


def fullness(uses: Sequence[NodeUse]) -> list[Chart]:
    """Nodes by the share of cpu and memory that is requested, and of what is measured that is in use.

    Nothing for a handful of nodes, or if none changes.
    """
    if len(uses) < FEWEST_NODES or not any(use.pods_changed for use in uses):
        return []
    return [_chart(name, uses) for name in (*SHOWN_FIRST, *measured_resources(uses))]


def _chart(name: str, uses: Sequence[NodeUse]) -> Chart:
    before = Counter(_tenth(use, use.before, name) for use in uses if use.offered.get(name))
    after = Counter(_tenth(use, use.after, name) for use in uses if use.offered.get(name))
    shown = [at for at in range(TENTHS + 1) if at < TENTHS or before[at] or after[at]]
    rows = [(_LABELS[at], before[at], after[at]) for at in shown]
    return Chart(
        name if name.endswith(IN_USE) else f"{name} requested",
        rows,
        max([*before.values(), *after.values()], default=1),
    )


def _tenth(use: NodeUse, amounts: Mapping[str, int], name: str) -> int:
    """Which tenth; exactly full counts as full, and not as more."""
    used, offered = amounts.get(name, 0), use.offered[name]
    if used > offered:
        return TENTHS
    return min(TENTHS - 1, TENTHS * max(0, used) // offered)
