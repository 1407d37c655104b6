"""What was moved, why and where it landed, as a document for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from rich.console import RenderableType

from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import API_VERSION, OutcomeKind, PodReference
from rescheduler.model.times import rfc3339
from rescheduler.report.cells import STATUS_STYLES, cell, plural, table


class HistoryEntry(Struct, frozen=True, rename="camel"):
    """One move. ``time``: when it was announced, RFC 3339; ``plan``: the number of its plan in the ledger.

    ``message``: what was wrong, with its replacement too. ``method``: by which the pod was moved, or was to be.
    ``attempt``: 2 or 3 where the plan is what was left of others of one run, planned again.
    """

    time: str
    pod: PodReference
    from_node: str
    to_node: str
    landed_on: str | None
    outcome: OutcomeKind
    state: EntryState
    objective: str
    reason: str
    plan: int
    workload: str
    message: str
    method: MoveMethod = MoveMethod.EVICT
    attempt: int = 1


class HistoryDocument(Struct, frozen=True, rename="camel"):
    """Evictions, the oldest first."""

    entries: tuple[HistoryEntry, ...] = ()
    api_version: str = API_VERSION
    kind: str = "History"


def history_of(entries: Iterable[LedgerEntry]) -> HistoryDocument:
    """The history that a ledger's entries tell."""
    ordered = sorted(entries, key=lambda entry: (entry.at, entry.plan, entry.number))
    return HistoryDocument(tuple(_entry(entry) for entry in ordered))


def outcome_of(entry: LedgerEntry) -> OutcomeKind:
    """What became of a move, in the words of a plan's result."""
    if entry.state is EntryState.REFUSED:
        return OutcomeKind.REFUSED
    if entry.state is EntryState.NOT_EVICTED:
        return OutcomeKind.NOT_ATTEMPTED if entry.method is MoveMethod.EVICT else OutcomeKind.UNDONE
    if entry.landed_on is not None:
        return OutcomeKind.LANDED if entry.landed_on == entry.to_node else OutcomeKind.LANDED_ELSEWHERE
    is_replaced = entry.state is EntryState.REPAID and entry.method is not MoveMethod.MIGRATE
    return OutcomeKind.LANDED_ELSEWHERE if is_replaced else OutcomeKind.UNKNOWN


def _entry(entry: LedgerEntry) -> HistoryEntry:
    return HistoryEntry(
        time=_written(entry.at),
        pod=entry.pod,
        from_node=entry.from_node,
        to_node=entry.to_node,
        landed_on=entry.landed_on,
        outcome=outcome_of(entry),
        state=entry.state,
        objective=entry.objective,
        reason=entry.reason,
        plan=entry.plan,
        workload=entry.workload_key,
        message="; ".join(text for text in (entry.message, entry.failure) if text),
        method=entry.method,
        attempt=entry.attempt,
    )


def _written(time: float) -> str:
    try:
        return rfc3339(time)
    except (OverflowError, OSError, ValueError):
        return "unknown"


# What was moved, why and where it landed, as a table.


def history_report(history: HistoryDocument, *, wide: bool = False) -> Iterator[RenderableType]:
    """A line for each eviction, the oldest first; ``wide``: with plan, state, workload, objective and message.

    Methods are told where any pod was moved otherwise than by eviction.
    """
    if not history.entries:
        yield cell("no pod was moved, as far as is known here")
        return
    has_methods = any(entry.method is not MoveMethod.EVICT for entry in history.entries)
    yield cell(plural(len(history.entries), "move" if has_methods else "eviction"), "bold")
    more = ["PLAN", "STATE", "WORKLOAD", "OBJECTIVE"] if wide else []
    method = ["METHOD"] if has_methods else []
    headings = ["TIME", "POD", *method, "FROM", "PREDICTED", "LANDED ON", "OUTCOME", *more, "WHY"]
    rows = (_row(entry, wide=wide, has_method=has_methods) for entry in history.entries)
    yield table(headings, rows, right=["PLAN"] if wide else [])


def _row(entry: HistoryEntry, *, wide: bool, has_method: bool) -> list[object]:
    outcome = entry.outcome.value
    plan = str(entry.plan) if entry.attempt == 1 else f"{entry.plan} (attempt {entry.attempt})"
    more: list[object] = [plan, entry.state.value, entry.workload or "-", entry.objective] if wide else []
    why = "; ".join(text for text in (entry.reason, entry.message if wide or not entry.reason else "") if text)
    return [
        entry.time,
        entry.pod.key,
        *([entry.method.value] if has_method else []),
        entry.from_node,
        entry.to_node,
        entry.landed_on or "-",
        cell(outcome, STATUS_STYLES[outcome]),
        *more,
        why,
    ]
