"""Surges and migrations whose run has ended without a word: what became of their pods tells how they ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rescheduler.execution.ledger.open_evictions import settled
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS, SURGE
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.move_method import MoveMethod
from tests.builders import NOW
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.ledger.test_open_evictions import OTHERS, after, settle, web


def surge(**fields: Any) -> LedgerEntry:
    """A pod that is to be taken out of its ReplicaSet."""
    given: dict[str, Any] = {"state": EntryState.SURGING, "method": MoveMethod.SURGE, "ended_at": None, **fields}
    return entry("web-0", **given)


def migration(**fields: Any) -> LedgerEntry:
    """A pod whose owner was asked to move it."""
    return surge(method=MoveMethod.MIGRATE, **fields)


OUT = {SURGE: Detachment("pod-template-hash", "h1", "1", "2027-01-15T08:10:00Z").written()}


@pytest.mark.parametrize(("seconds", "state"), [(89.9, EntryState.SURGING), (90.0, EntryState.NOT_EVICTED)])
def test_a_pod_that_was_given_back_after_its_run_had_ended_was_not_moved(seconds: float, state: EntryState) -> None:
    """Once whoever took it out can be at it no more."""
    found = settle(surge(), after(seconds, web("0", on="n0"), *OTHERS))
    assert found.state is state
    assert found.closed_at == (None if state is EntryState.SURGING else NOW + 90)


def test_a_pod_that_is_still_out_is_in_the_books_until_it_is_given_back() -> None:
    """However long that takes: somebody has to do it."""
    out = web("0", on="n0", annotations=OUT)
    assert settle(surge(), after(100_000, out, *OTHERS)).state is EntryState.SURGING


@pytest.mark.parametrize("make", [surge, migration])
def test_a_pod_that_left_after_its_run_had_ended_is_missed_by_nobody(make: Callable[..., LedgerEntry]) -> None:
    """Its replacement was there before."""
    found = settle(make(), after(100, *OTHERS))
    assert (found.state, found.closed_at, found.landed_on) == (EntryState.REPAID, NOW + 100, None)


@pytest.mark.parametrize(("seconds", "state"), [(3599.9, EntryState.SURGING), (3600.0, EntryState.NOT_EVICTED)])
def test_an_owner_that_says_nothing_for_an_hour_has_not_moved_its_pod(seconds: float, state: EntryState) -> None:
    """Then it may be asked again."""
    assert settle(migration(), after(seconds, web("0", on="n0"), *OTHERS)).state is state


def test_an_owner_that_says_that_it_moves_a_pod_is_given_all_its_time() -> None:
    """Until the pod is gone, or it says so no more."""
    moving = web("0", on="n0", annotations={EVICTION_IN_PROGRESS: "true"})
    assert settle(migration(), after(100_000, moving, *OTHERS)).state is EntryState.SURGING


def test_the_pod_that_its_owner_made_tells_where_it_was_moved_to() -> None:
    """The first that came since and has a node; what the run saw stays where none is there, or it was a surge."""
    waits, stands = (web(name, on=on, born=NOW + 1, ready_at=None) for name, on in (("a", None), ("b", "n2")))
    world = after(100, *OTHERS, waits, stands)
    assert settle(migration(landed_on="n1"), world).landed_on == "n2"
    assert settle(migration(landed_on="n1"), after(100, *OTHERS, waits)).landed_on == "n1"
    assert settle(migration(landed_on="n1", workload=""), world).landed_on == "n1"
    assert settle(surge(landed_on="n1"), world).landed_on == "n1"


def test_a_surge_among_debts_does_not_keep_them_open() -> None:
    """Each entry is judged by what it is."""
    debt, new = entry("web-9"), web("new", born=NOW + 1, ready_at=NOW + 6)
    world = after(60, *OTHERS, new)
    found = settled(ledger_of(surge(), debt), world, lambda reference: world.pod_by_key.get(reference.key)).entries
    assert [item.state for item in found] == [EntryState.SURGING, EntryState.REPAID]
