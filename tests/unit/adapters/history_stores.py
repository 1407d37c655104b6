"""Histories of evictions for tests: of one cluster, and what is read from them."""

from __future__ import annotations

from pathlib import Path

from rescheduler.adapters.files.sqlite.history_store import HistoryStore, Place, read_history
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.model.daemon.ledger import EntryState
from tests.builders import NOW
from tests.unit.adapters.usage_stores import ALL, Told

HERE = Place("uid-of-kube-system", "https://one")
ELSEWHERE = Place("another-uid", "https://two")


def store(path: Path, place: Place = HERE, told: Told | None = None) -> HistoryStore:
    """The history of one cluster."""
    return HistoryStore(lambda: path, place, SimulatedClock(NOW), Told() if told is None else told)


def read(path: Path, place: Place | None = HERE, since: float = ALL) -> list[tuple[str, EntryState]]:
    """Pods and states."""
    return [(found.pod.name, found.state) for found in read_history(path, place, since, Told())]
