"""Tests of the ramp-up: few evictions at first, twice as many with each clean day."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.disruption.earlier.ramp_up import Allowance, allowance, clean_since, remembering
from rescheduler.model.daemon.ledger import Breaker, EntryState
from rescheduler.policy.fields.daemon.safety import RampUpPolicy
from tests.builders import NOW
from tests.unit.disruption.ledgers import HOUR, MINUTE, entry, ledger

RULES = RampUpPolicy()
DAY = 24 * HOUR


def test_it_starts_with_one_an_hour() -> None:
    """The window slides."""
    assert allowance(ledger(), RULES, NOW) == Allowance(1, 1)
    assert allowance(ledger(entry(ago=59 * MINUTE)), RULES, NOW) == Allowance(1, 0)
    assert allowance(ledger(entry(ago=HOUR)), RULES, NOW) == Allowance(1, 1)


def test_what_was_not_sent_is_not_counted() -> None:
    """Refusals cost nothing; an open debt and a lost answer do."""
    assert allowance(ledger(entry(ago=60, state=EntryState.REFUSED)), RULES, NOW).left == 1
    assert allowance(ledger(entry(ago=60, state=EntryState.OPEN)), RULES, NOW).left == 0
    assert allowance(ledger(entry(ago=60, state=EntryState.INTENDED)), RULES, NOW).left == 0


@pytest.mark.parametrize(("days", "allowed"), [(0, 1), (0.99, 1), (1, 2), (2.5, 4), (5, 32), (4000, 2**30)])
def test_it_doubles_with_each_clean_day(days: float, allowed: int) -> None:
    """Counted from the first round in Execute."""
    assert allowance(ledger(clean_since=NOW - days * DAY), RULES, NOW).allowed == allowed
    assert allowance(ledger(clean_since=NOW - days * DAY), RampUpPolicy(start=3), NOW).allowed == 3 * allowed


def test_more_than_allowed_leaves_nothing() -> None:
    """Never less than nothing."""
    assert allowance(ledger(*(entry(number, ago=60) for number in range(5))), RULES, NOW) == Allowance(1, 0)


def test_it_starts_again_when_the_breaker_opens() -> None:
    """And when it was closed; an older opening does not matter."""
    began = NOW - 5 * DAY
    assert clean_since(ledger(clean_since=began), NOW) == began
    assert clean_since(ledger(clean_since=began, breaker=Breaker(opened_at=NOW - DAY)), NOW) == NOW - DAY
    assert clean_since(ledger(clean_since=began, breaker=Breaker(opened_at=began - DAY)), NOW) == began
    assert clean_since(ledger(clean_since=began, breaker=Breaker(since=NOW - HOUR)), NOW) == NOW - HOUR
    assert clean_since(ledger(), NOW) == NOW


def test_a_clock_that_went_back_does_not_help() -> None:
    """A beginning in the future is no clean day."""
    assert allowance(ledger(clean_since=NOW + 5 * DAY), RULES, NOW) == Allowance(1, 1)


def test_it_starts_again_when_an_eviction_fails() -> None:
    """From when it was known; one whose replacement failed counts even when another one repaid it."""
    began = NOW - 5 * DAY
    assert clean_since(ledger(entry(ago=HOUR, state=EntryState.FAILED), clean_since=began), NOW) == NOW - HOUR + 10
    assert clean_since(ledger(entry(ago=HOUR, failure="OutOfcpu"), clean_since=began), NOW) == NOW - HOUR + 10
    missing = entry(ago=HOUR, state=EntryState.OPEN, failure="OutOfcpu")
    assert clean_since(ledger(missing, clean_since=began), NOW) == NOW - HOUR
    assert clean_since(ledger(entry(ago=HOUR, state=EntryState.REFUSED), clean_since=began), NOW) == began


def test_what_others_evicted_is_no_beginning() -> None:
    """A person's ``apply``, however long ago, proves nothing of rounds that nobody watches."""
    assert clean_since(ledger(entry(ago=30 * DAY)), NOW) == NOW


class TestWhatIsKept:
    """The ledger remembers since when all is clean, so that dropped entries do not start it again."""

    def test_the_first_round_in_execute_is_remembered(self) -> None:
        """It is the beginning; later rounds of any mode keep it."""
        begun = remembering(ledger(), RULES, NOW - 5 * DAY, begins=True)
        assert begun.clean_since == NOW - 5 * DAY
        for begins in (True, False):
            assert allowance(remembering(begun, RULES, NOW, begins=begins), RULES, NOW).allowed == 32

    def test_what_went_wrong_is_remembered(self) -> None:
        """An opening, a failure: also when the breaker is closed again and the entry is gone."""
        began = NOW - 5 * DAY
        opened = ledger(clean_since=began, breaker=Breaker(opened_at=NOW - DAY))
        failed = ledger(entry(ago=DAY, state=EntryState.FAILED), clean_since=began)
        for begins in (True, False):
            assert remembering(opened, RULES, NOW, begins=begins).clean_since == NOW - DAY
            assert remembering(failed, RULES, NOW, begins=begins).clean_since == NOW - DAY + 10

    def test_nothing_begins_in_another_mode(self) -> None:
        """Whatever was evicted there, by a person's yes."""
        for found in (ledger(), ledger(entry(ago=DAY)), ledger(entry(ago=DAY, state=EntryState.FAILED))):
            assert remembering(found, RULES, NOW, begins=False) == found

    def test_without_a_ramp_up_nothing_is_kept(self) -> None:
        """Nor forgotten."""
        for found in (ledger(entry(ago=DAY)), ledger(clean_since=NOW - DAY)):
            assert remembering(found, None, NOW, begins=True) == found

    def test_a_beginning_in_the_future_begins_now(self) -> None:
        """A clock that ran ahead for a while must not hold it back for as long."""
        assert remembering(ledger(clean_since=NOW + 400 * DAY), RULES, NOW, begins=True).clean_since == NOW

    @given(
        ages=st.lists(st.floats(0, 60 * DAY), max_size=6),
        states=st.lists(st.sampled_from(list(EntryState)), min_size=6, max_size=6),
        dropped=st.integers(0, 6),
    )
    def test_dropping_entries_never_allows_more(
        self, ages: list[float], states: list[EntryState], dropped: int
    ) -> None:
        """However many of the oldest are dropped once it is kept, exactly as many evictions are allowed."""
        entries = [entry(i, ago=ago, state=states[i]) for i, ago in enumerate(sorted(ages, reverse=True))]
        full = ledger(*entries, clean_since=NOW - 30 * DAY)
        kept = remembering(full, RULES, NOW, begins=True)
        shorter = structs.replace(kept, entries=kept.entries[dropped:])
        assert allowance(shorter, RULES, NOW).allowed == allowance(full, RULES, NOW).allowed
