"""Entries of ledgers for tests."""

from __future__ import annotations

from typing import Any

import msgspec

from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW


def entry(name: str = "web-0", *, at: float = NOW, number: int = 1, **fields: Any) -> LedgerEntry:
    """An accepted eviction of a pod of ReplicaSet ``web`` from n0 to n1, one of three that were all ready."""
    defaults: dict[str, Any] = {
        "state": EntryState.OPEN, "workload": "uid-default-web", "workload_key": "ReplicaSet default/web", "desired": 3,
        "ready": 3, "ended_at": at + 0.1,
    }  # fmt: skip
    pod = PodReference("default", name, f"uid-default-{name}")
    return LedgerEntry(number, 1, pod, "n0", "n1", at, **{**defaults, **fields})


def ledger_of(*entries: LedgerEntry) -> Ledger:
    """A ledger of these entries, numbered in order."""
    return Ledger(plan=1, next_entry=len(entries) + 1, entries=entries)


def old_text(ledger: Ledger) -> str:
    """As versions wrote it that kept everything in one text."""
    return msgspec.json.encode(ledger).decode()
