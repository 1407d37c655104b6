"""Ledgers for tests: entries of one workload, and times that count back from now."""

from __future__ import annotations

from typing import Any

from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW

MINUTE, HOUR = 60.0, 3600.0


def entry(number: int = 1, *, ago: float, state: EntryState = EntryState.REPAID, **fields: Any) -> LedgerEntry:
    """An eviction of ``web-NUMBER`` from n1, predicted on n2 and landed there if it was repaid."""
    defaults: dict[str, Any] = {
        "plan": 1,
        "pod": PodReference("default", f"web-{number}", f"uid-default-web-{number}"),
        "from_node": "n1",
        "to_node": "n2",
        "at": NOW - ago,
        "workload": "uid-default-web",
        "workload_key": "ReplicaSet default/web",
        "desired": 10,
        "ready": 10,
        "landed_on": "n2" if state is EntryState.REPAID else None,
    }
    if state not in (EntryState.INTENDED, EntryState.OPEN):
        defaults["closed_at"] = NOW - ago + 10.0
    return LedgerEntry(number=number, state=state, **{**defaults, **fields})


def ledger(*entries: LedgerEntry, **fields: Any) -> Ledger:
    """A ledger of these entries."""
    return Ledger(entries=entries, next_entry=len(entries) + 1, **fields)
