"""The ledger in memory behaves as an object of the API server does."""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.extension_points import LedgerReading
from rescheduler.model.daemon.ledger import EMPTY_LEDGER


def test_it_begins_empty_and_keeps_what_was_written() -> None:
    """The first write is to the version that stands for nothing."""
    ledger = SimulatedLedger(SimulatedClock())
    assert ledger.read() == LedgerReading(EMPTY_LEDGER, "")
    written = structs.replace(EMPTY_LEDGER, plan=1)
    version = ledger.write(written, "")
    assert ledger.read() == LedgerReading(written, version)


def test_whoever_read_an_older_version_writes_nothing() -> None:
    """Also not the same words once more; conflicts are counted apart."""
    ledger = SimulatedLedger(SimulatedClock())
    first = structs.replace(EMPTY_LEDGER, plan=1)
    ledger.write(first, "")
    assert ledger.write(structs.replace(EMPTY_LEDGER, plan=2), "") is None
    assert ledger.ledger == first
    assert (ledger.writes, ledger.conflicts) == (1, 1)


def test_one_that_holds_something_from_the_beginning_has_a_version() -> None:
    """A writer that takes it for missing must not replace it."""
    ledger = SimulatedLedger(SimulatedClock(), structs.replace(EMPTY_LEDGER, plan=7))
    assert ledger.write(EMPTY_LEDGER, "") is None
    assert ledger.read().ledger.plan == 7


def test_calls_take_time_and_the_mark_is_told() -> None:
    """So that what happens meanwhile is seen by whoever waits for the answer."""
    clock = SimulatedClock()
    ledger = SimulatedLedger(clock, call_seconds=0.5)
    clock.after(0.4, lambda: setattr(ledger, "stop", "maintenance"))
    assert ledger.read().stop == "maintenance"
    assert clock.monotonic() == 0.5
