"""A ledger that was lost or set back is noticed by whoever remembers more of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rescheduler.model.daemon.known_ledger import NOTHING_KNOWN, KnownLedger, known_of, loss_of
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, Ledger
from tests.builders import NOW

OPEN = Breaker(opened_at=NOW, openings=1, reason="3 of the last 5 evictions came to nothing")


@given(st.integers(0, 9), st.sampled_from([Breaker(), OPEN, Breaker(since=NOW)]), st.floats(0, NOW))
def test_what_is_remembered_of_a_ledger_is_no_loss_to_it(plan: int, breaker: Breaker, accepted_at: float) -> None:
    """Nor to a later one."""
    ledger = Ledger(plan=plan, breaker=breaker, accepted_at=accepted_at)
    known = known_of(ledger, "one")
    assert loss_of(known, ledger, "one") is None
    assert loss_of(known, replace(ledger, plan=plan + 1), "one") is None
    assert loss_of(NOTHING_KNOWN, ledger, "one") is None


@pytest.mark.parametrize("uid", ["one", "another", ""])
def test_a_lower_plan_number_is_a_loss(uid: str) -> None:
    """Whether the object was removed, made anew, or an older text put into it."""
    assert "knows plans up to 3, and this machine has seen plan 7" in str(
        loss_of(KnownLedger(7, "one"), Ledger(plan=3), uid)
    )
    assert loss_of(KnownLedger(7, "one"), EMPTY_LEDGER, uid)


def test_an_open_breaker_is_not_closed_by_another_object() -> None:
    """Also where the plan's number was put back; the same object may have been written by somebody who closed it."""
    known = known_of(Ledger(plan=7, breaker=OPEN), "one")
    assert OPEN.reason in str(loss_of(known, Ledger(plan=7), "another"))
    assert loss_of(known, Ledger(plan=7), "one") is None
    assert loss_of(known, Ledger(plan=7, breaker=OPEN), "another") is None


def test_an_operators_mark_closes_it_in_another_object_too() -> None:
    """If it is later than the breaker's opening."""
    known = known_of(Ledger(plan=7, breaker=OPEN), "one")
    assert loss_of(known, Ledger(plan=7, breaker=Breaker(since=NOW + 1)), "another") is None
    assert loss_of(known, Ledger(plan=7, breaker=Breaker(since=NOW - 1)), "another")


def test_a_loss_that_was_accepted_is_none() -> None:
    """Only by an acceptance that is later than the one that is remembered: an old copy does not bring its own."""
    known = KnownLedger(7, "one", NOW, "because", accepted_at=100.0)
    assert loss_of(known, Ledger(accepted_at=101.0), "another") is None
    assert loss_of(known, Ledger(accepted_at=100.0), "another")
    assert loss_of(known, Ledger(accepted_at=99.0), "another")
