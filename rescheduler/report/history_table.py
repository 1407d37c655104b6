"""What was moved, why and where it landed, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from rescheduler.report.cells import STATUS_STYLES, cell, plural, table
from rescheduler.report.history import History, HistoryEntry


def history_report(history: History, *, wide: bool = False) -> Iterator[RenderableType]:
    """A line for each eviction, the oldest first; ``wide``: with plan, state, workload, objective and message."""
    if not history.entries:
        yield cell("no pod was moved, as far as is known here")
        return
    yield cell(plural(len(history.entries), "eviction"), "bold")
    more = ["PLAN", "STATE", "WORKLOAD", "OBJECTIVE"] if wide else []
    headings = ["TIME", "POD", "FROM", "PREDICTED", "LANDED ON", "OUTCOME", *more, "WHY"]
    yield table(headings, (_row(entry, wide=wide) for entry in history.entries), right=["PLAN"] if wide else [])


def _row(entry: HistoryEntry, *, wide: bool) -> list[object]:
    outcome = entry.outcome.value
    more: list[object] = [entry.plan, entry.state.value, entry.workload or "-", entry.objective] if wide else []
    why = "; ".join(text for text in (entry.reason, entry.message if wide or not entry.reason else "") if text)
    return [
        entry.time,
        entry.pod.key,
        entry.from_node,
        entry.to_node,
        entry.landed_on or "-",
        cell(outcome, STATUS_STYLES[outcome]),
        *more,
        why,
    ]
