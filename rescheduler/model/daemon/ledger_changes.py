"""What may be done to a ledger: pure functions, from one ledger to the next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from msgspec import structs

from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry, Nomination
from rescheduler.model.plan.plan import PodReference

LONGEST_TEXT: Final = 300
"""Characters of a reason or message that are kept."""
TEXTS: Final = frozenset({"reason", "message", "failure"})


def plan_begun(ledger: Ledger, holder: str) -> Ledger:
    """The next plan takes the lead: an older one sends nothing any more."""
    return structs.replace(ledger, plan=ledger.plan + 1, holder=holder)


def announced(ledger: Ledger, entry: LedgerEntry) -> Ledger:
    """An eviction that is about to be sent; the entry takes the next number."""
    numbered = structs.replace(entry, number=ledger.next_entry, **_short(entry))
    return structs.replace(ledger, entries=(*ledger.entries, numbered), next_entry=ledger.next_entry + 1)


def revised(ledger: Ledger, changes: Mapping[tuple[str, float], Mapping[str, Any]]) -> Ledger:
    """Entries with new values of some fields, by the pod's uid and the time at which it was announced."""
    if not changes:
        return ledger
    entries = tuple(
        _revised(entry, changes[entry.pod.uid, entry.at]) if (entry.pod.uid, entry.at) in changes else entry
        for entry in ledger.entries
    )
    return structs.replace(ledger, entries=entries)


def _revised(entry: LedgerEntry, fields: Mapping[str, Any]) -> LedgerEntry:
    short = {name: value[:LONGEST_TEXT] for name, value in fields.items() if name in TEXTS}
    return structs.replace(entry, **{**fields, **short})


def debt_of(ledger: Ledger, uid: str) -> LedgerEntry | None:
    """The open entry of a pod, None if there is none."""
    return next((entry for entry in ledger.entries if entry.pod.uid == uid and entry.is_debt), None)


def repaid(ledger: Ledger, pods: Collection[PodReference], now: float) -> Ledger:
    """The ledger with the debts of these pods as over."""
    if not pods:
        return ledger
    entries = (
        closed(entry, EntryState.REPAID, now) if entry.is_debt and entry.pod in pods else entry
        for entry in ledger.entries
    )
    return structs.replace(ledger, entries=tuple(entries))


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


def bounded(ledger: Ledger, label_keys: Iterable[str]) -> Ledger:
    """With entries of which each takes little room, whatever stands on its pod: labels that count, and short texts.

    An entry that was bounded before is left alone, also where other labels counted then.
    """
    if all(entry.label_keys is not None for entry in ledger.entries):
        return ledger
    keys = tuple(sorted(label_keys))
    entries = (_lean(entry, keys) if entry.label_keys is None else entry for entry in ledger.entries)
    return structs.replace(ledger, entries=tuple(entries))


def _lean(entry: LedgerEntry, keys: tuple[str, ...]) -> LedgerEntry:
    return structs.replace(
        entry,
        labels={key: entry.labels[key] for key in keys if key in entry.labels},
        label_keys=keys,
        **_short(entry),
    )


def _short(entry: LedgerEntry) -> dict[str, str]:
    return {name: getattr(entry, name)[:LONGEST_TEXT] for name in TEXTS}


def _is_same(found: LedgerEntry, entry: LedgerEntry) -> bool:
    return (found.pod, found.at, found.plan) == (entry.pod, entry.at, entry.plan)


def closed(entry: LedgerEntry, state: EntryState, now: float, message: str = "", **fields: Any) -> LedgerEntry:
    """A debt that is none any more."""
    return structs.replace(entry, state=state, closed_at=round(now, 3), message=message or entry.message, **fields)


# Pods that are led to room before it is made.


def nominated(ledger: Ledger, new: Iterable[Nomination]) -> Ledger:
    """With these nominations besides, each in place of an earlier one of its pod."""
    found = {item.pod.uid: item for item in (*ledger.nominations, *new)}
    return structs.replace(ledger, nominations=tuple(found.values()))


def without_nominations(ledger: Ledger, over: Iterable[Nomination]) -> Ledger:
    """Without these very nominations; one that was made anew for a pod stays."""
    gone = frozenset((item.pod.uid, item.at) for item in over)
    kept = tuple(item for item in ledger.nominations if (item.pod.uid, item.at) not in gone)
    return ledger if len(kept) == len(ledger.nominations) else structs.replace(ledger, nominations=kept)
