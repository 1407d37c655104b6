"""What may be done to a ledger: pure functions, from one ledger to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from rescheduler.model.daemon.ledger import DEBTS, SENT, EntryState, Ledger, LedgerEntry


def plan_begun(ledger: Ledger, holder: str) -> Ledger:
    """The next plan takes the lead: an older one sends nothing any more."""
    return structs.replace(ledger, plan=ledger.plan + 1, holder=holder)


def announced(ledger: Ledger, entry: LedgerEntry) -> Ledger:
    """An eviction that is about to be sent; the entry takes the next number."""
    numbered = structs.replace(entry, number=ledger.next_entry)
    return structs.replace(ledger, entries=(*ledger.entries, numbered), next_entry=ledger.next_entry + 1)


def revised(ledger: Ledger, changes: Mapping[tuple[str, float], Mapping[str, Any]]) -> Ledger:
    """Entries with new values of some fields, by the pod's uid and the time at which it was announced."""
    if not changes:
        return ledger
    entries = tuple(
        structs.replace(entry, **changes[entry.pod.uid, entry.at]) if (entry.pod.uid, entry.at) in changes else entry
        for entry in ledger.entries
    )
    return structs.replace(ledger, entries=entries)


def debt_of(ledger: Ledger, uid: str) -> LedgerEntry | None:
    """The open entry of a pod, None if there is none."""
    return next((entry for entry in ledger.entries if entry.pod.uid == uid and entry.is_debt), None)


def holds(ledger: Ledger, entry: LedgerEntry) -> bool:
    """Whether this very intent was written."""
    return any(_is_same(found, entry) for found in ledger.entries)


def without(ledger: Ledger, entry: LedgerEntry) -> Ledger:
    """The ledger as if this intent had never been written."""
    return structs.replace(ledger, entries=tuple(found for found in ledger.entries if not _is_same(found, entry)))


def trimmed(ledger: Ledger, now: float, keep_seconds: float) -> Ledger:
    """Without closed entries that are older than ``keep_seconds``; debts stay, however old they are."""
    kept = tuple(entry for entry in ledger.entries if entry.is_debt or now - entry.at <= keep_seconds)
    return ledger if len(kept) == len(ledger.entries) else structs.replace(ledger, entries=kept)


def fitting(
    ledger: Ledger, now: float, counted_seconds: float, size: Callable[[Ledger], int], largest: int
) -> Ledger | None:
    """A ledger of at most ``largest`` by dropping what counts in no window; None if there is no such ledger.

    Dropped in this order, the oldest first: the words of closed entries, refusals, and evictions older than
    ``counted_seconds``. Debts and what still counts are never dropped.
    """
    for lessened in (lambda found: found, _without_words, _without_refusals):
        ledger = lessened(ledger)
        if size(ledger) <= largest:
            return ledger
    while size(ledger) > largest:
        old = [entry for entry in ledger.entries if not entry.is_debt and now - entry.at > counted_seconds]
        if not old:
            return None
        # A tenth at once: measuring costs as much as encoding the whole.
        dropped = {entry.number for entry in old[: max(1, len(old) // 10)]}
        kept = tuple(entry for entry in ledger.entries if entry.number not in dropped)
        ledger = structs.replace(ledger, entries=kept)
    return ledger


def _is_same(found: LedgerEntry, entry: LedgerEntry) -> bool:
    return (found.pod, found.at, found.plan) == (entry.pod, entry.at, entry.plan)


def _without_words(ledger: Ledger) -> Ledger:
    entries = tuple(
        entry if entry.is_debt else structs.replace(entry, reason="", message="") for entry in ledger.entries
    )
    return structs.replace(ledger, entries=entries)


def _without_refusals(ledger: Ledger) -> Ledger:
    return structs.replace(ledger, entries=tuple(entry for entry in ledger.entries if entry.state in SENT | DEBTS))


def closed(entry: LedgerEntry, state: EntryState, now: float, message: str = "", **fields: Any) -> LedgerEntry:
    """A debt that is none any more."""
    return structs.replace(entry, state=state, closed_at=now, message=message or entry.message, **fields)
