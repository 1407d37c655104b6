"""Where the ledger on the cluster is denied, this machine's takes its place, unless budgets need the former."""

from __future__ import annotations

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.composition.live.ledgers import SharedOrLocalLedger
from rescheduler.extension_points import LedgerDeniedError, LedgerReading
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from tests.unit.adapters.usage_stores import Told
from tests.unit.execution.entries import entry, ledger_of


class Shared(SimulatedLedger):
    """One that may be denied."""

    may_read = True
    may_write = True

    def read(self) -> LedgerReading:
        """Unless it is denied."""
        if not self.may_read:
            raise LedgerDeniedError("may not get it")
        return super().read()

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Unless it is denied."""
        if not self.may_write:
            raise LedgerDeniedError("may not update it")
        return super().write(ledger, version)


@pytest.fixture
def shared() -> Shared:
    """The one on the cluster."""
    return Shared(SimulatedClock())


@pytest.fixture
def local() -> SimulatedLedger:
    """The one on this machine."""
    return SimulatedLedger(SimulatedClock(), ledger_of(entry("local")))


def either(shared: Shared, local: SimulatedLedger, told: Told, **options: bool) -> SharedOrLocalLedger:
    """Both."""
    return SharedOrLocalLedger(shared, local, **{"is_local": False, "is_needed": False, **options}, tell=told)


def test_the_shared_one_is_used_where_it_may_be(shared: Shared, local: SimulatedLedger) -> None:
    """The other is not touched."""
    told = Told()
    ledger = either(shared, local, told, is_needed=True)
    version = ledger.write(ledger_of(entry()), ledger.read().version)
    assert ledger.read() == (ledger_of(entry()), version, None, "", "")
    assert (local.writes, told) == (0, [])


@pytest.mark.parametrize("right", ["may_read", "may_write"])
def test_where_it_is_denied_the_local_one_is_used_from_then_on(
    shared: Shared, local: SimulatedLedger, right: str
) -> None:
    """Once a write is denied the caller reads again; the warning names the right, and comes once."""
    setattr(shared, right, False)
    told = Told()
    ledger = either(shared, local, told)
    reading = ledger.read()
    assert ledger.write(EMPTY_LEDGER, reading.version) == (None if right == "may_write" else "2")
    reading = ledger.read()
    assert ledger.write(ledger_of(entry()), reading.version) is not None
    assert local.ledger == ledger_of(entry())
    assert shared.writes == 0
    assert len(told) == 1
    assert f"may not {'get' if right == 'may_read' else 'update'} it; evictions are written down on this" in told[0]


@pytest.mark.parametrize("right", ["may_read", "may_write"])
def test_where_budgets_need_the_shared_one_nothing_takes_its_place(
    shared: Shared, local: SimulatedLedger, right: str
) -> None:
    """The error names the right that is missing, and why it is needed."""
    setattr(shared, right, False)
    ledger = either(shared, local, Told(), is_needed=True)
    with pytest.raises(LedgerDeniedError, match=r"may not .* it; rates .* and budgets with rate or maxMoving can only"):
        ledger.write(EMPTY_LEDGER, ledger.read().version)
    assert local.writes == 0


def test_where_nothing_may_be_written_on_the_cluster_it_is_local_from_the_start(
    shared: Shared, local: SimulatedLedger
) -> None:
    """Also with budgets; nobody is warned of what was asked for, and the mark on the cluster stops all the same."""
    told = Told()
    shared.stop = "rack 7"
    ledger = either(shared, local, told, is_local=True, is_needed=True)
    assert ledger.read() == (ledger_of(entry("local")), "1", "rack 7", "", "")
    shared.may_read = False
    assert ledger.read().stop is None
    assert ledger.write(EMPTY_LEDGER, "1") == "2"
    assert (shared.writes, told) == (0, [])
