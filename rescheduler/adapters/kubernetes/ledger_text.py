"""The ledger as text in a ConfigMap, and what to say of a text that is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from rescheduler.extension_points import ClusterError
from rescheduler.model.ledger import Ledger
from rescheduler.model.printable import shortened

DATA_KEY: Final = "ledger.json"
FORMAT_KEY: Final = "format"
FORMAT: Final = "1"
LATEST_TIME: Final = 1e11
"""Seconds since the epoch that no eviction was sent at: about the year 5138."""


def write_ledger(ledger: Ledger) -> str:
    """The ledger as JSON."""
    return msgspec.json.encode(ledger).decode()


def read_ledger(data: Mapping[str, str], called: str, repair: str) -> Ledger:
    """The ledger from a ConfigMap's data. Raises ClusterError that says what was found and how to repair it.

    ``called``: the ConfigMap in words; ``repair``: the command that removes it.
    """
    found = data.get(FORMAT_KEY, FORMAT)
    if found != FORMAT:
        raise ClusterError(
            f"{called} is of form {shortened(found, 20)!r}, wanted {FORMAT!r}: another version of rescheduler wrote "
            "it; use that one, or name another ConfigMap in the policy (ledger.name)"
        )
    try:
        ledger = msgspec.json.decode(data[DATA_KEY], type=Ledger)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _unusable(called, str(error), repair) from error
    fault = next(_faults(ledger), None)
    if fault is not None:
        raise _unusable(called, fault, repair)
    return ledger


def _faults(ledger: Ledger) -> Iterator[str]:
    numbers = [entry.number for entry in ledger.entries]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= ledger.next_entry):
        yield "the numbers of its entries are not in order"
    if ledger.plan < 0:
        yield f"plan is {ledger.plan}"
    for entry in ledger.entries:
        times = (entry.at, entry.ended_at or 0.0, entry.closed_at or 0.0)
        if not all(0.0 <= time < LATEST_TIME for time in times):
            yield f"entry {entry.number} has a time that is none"
        if not entry.pod.uid or not entry.pod.name:
            yield f"entry {entry.number} names no pod"


def _unusable(called: str, found: str, repair: str) -> ClusterError:
    return ClusterError(
        f"{called} holds no ledger that can be read: {shortened(found, 200)}; nothing is evicted without it. "
        f"Put back what stood there, or, if no eviction is under way, remove it: {repair}"
    )
