"""The comparison as Markdown tables, one for each kind of cluster, with the columns that count there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from benchmarks.side_by_side.rows import Row

Column: TypeAlias = tuple[str, Callable[[Row], object]]

_WHO: Final[tuple[Column, ...]] = (
    ("contender", lambda row: f"{row.program} {row.contender}"),
    ("scheduler", lambda row: row.scheduler),
    ("clusters", lambda row: row.clusters),
    ("cycles", lambda row: f"{row.cycles} ({row.failed_cycles} failed)" if row.failed_cycles else row.cycles),
    ("evictions sent", lambda row: row.sent),
    ("evicted", lambda row: row.evicted),
    ("refused by budgets (429)", lambda row: row.refused_by_budget),
    ("came back to their node", lambda row: row.returned),
    ("pending before", lambda row: row.pending_before),
    ("pending after", lambda row: row.pending),
)
_COST: Final[tuple[Column, ...]] = (
    ("longest cycle, s", lambda row: row.longest_cycle_seconds),
    ("longest planning, s", lambda row: row.longest_planning_seconds),
    ("CPU, s", lambda row: row.cpu_seconds),
    ("peak MB", lambda row: row.peak_megabytes),
)
_WHAT_COUNTS: Final[dict[str, tuple[Column, ...]]] = {
    "consolidation": (
        ("nodes emptied", lambda row: row.emptied),
        ("evicted per node", lambda row: row.evicted_per_node),
        ("least possible", lambda row: row.least_to_empty),
    ),
    "spreading": (
        ("overload before, nodes", lambda row: row.overload_before),
        ("overload after, nodes", lambda row: row.overload),
        ("evicted per node's worth", lambda row: row.evicted_per_overload),
        ("least to relieve all", lambda row: row.least_to_relieve),
    ),
    "pending": (
        ("helped", lambda row: row.helped),
        ("evicted per helped", lambda row: row.evicted_per_helped),
        ("least possible", lambda row: row.least_to_admit),
    ),
}


def table(scenario: str, rows: Sequence[Row]) -> str:
    """One line for each row; ``scenario`` chooses the columns."""
    columns = (*_WHO, *_WHAT_COUNTS[scenario], *_COST)
    lines = [[name for name, _ in columns], ["---"] * len(columns)]
    lines += [[_told(ask(row)) for _, ask in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _told(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return "∞" if math.isinf(value) else f"{value:.2f}"
    return str(value)
