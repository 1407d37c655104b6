"""The ledger between two rounds: what was told since it was read counts, and the breaker opens and closes by it."""

from __future__ import annotations

from rescheduler.daemon.steering.told_ledger import told_ledger
from rescheduler.model.daemon.ledger import Breaker, EntryState, Ledger, LedgerEntry
from rescheduler.policy.fields.daemon.safety import BreakerPolicy
from tests.builders import NOW
from tests.unit.daemon.page.looks import entry, ledger

RULES = BreakerPolicy()
OPEN = Breaker(opened_at=NOW - 600, openings=1, reason="2 of the last 3 evictions came to nothing")


def told(read: Ledger, *entries: LedgerEntry) -> Ledger:
    """The ledger after these were told."""
    return told_ledger(read, {(one.pod.uid, one.at): one for one in entries}, RULES)


def test_where_nothing_was_told_the_ledger_is_as_it_was_read() -> None:
    """With the breaker as the round judged it, however late a debt is by now: the next round looks first."""
    read = ledger(entry(1, "a-1", ago=9000.0, state=EntryState.OPEN))
    assert told(read) is read
    assert told(read, read.entries[0]) is read


def test_the_breaker_opens_in_the_middle_of_a_run() -> None:
    """With the second eviction that comes to nothing, by its failure alone too; and says what for."""
    read = ledger(entry(1, "a-1", ago=90.0, state=EntryState.FAILED, closed_at=NOW - 80))
    failing = entry(2, "a-2", ago=60.0, state=EntryState.OPEN, failure="ImagePullBackOff")
    assert told(read, entry(2, "a-2", ago=60.0, state=EntryState.OPEN)).breaker.opened_at is None
    found = told(read, failing).breaker
    assert (found.opened_at, found.openings) == (NOW - 60, 1)
    assert "2 of the last 2 evictions came to nothing" in found.reason


def test_a_debt_that_begins_to_fail_counts_though_the_ledger_has_it_as_open() -> None:
    """It is still a debt, but the newest word on it is worse."""
    first = entry(1, "a-1", ago=90.0, state=EntryState.FAILED, closed_at=NOW - 80)
    read = ledger(first, entry(2, "a-2", ago=60.0, state=EntryState.OPEN))
    assert told(read, entry(2, "a-2", ago=60.0, state=EntryState.OPEN, failure="crashes")).breaker.openings == 1


def test_a_trial_closes_the_breaker_once_it_is_repaid_and_opens_it_for_good_where_it_fails() -> None:
    """Not only when the next round begins."""
    read = ledger(breaker=OPEN)
    assert told(read, entry(1, "a-1", state=EntryState.OPEN)).breaker.trial == 1
    assert told(read, entry(1, "a-1", closed_at=NOW - 20)).breaker.opened_at is None
    assert told(read, entry(1, "a-1", state=EntryState.FAILED, closed_at=NOW - 20)).breaker.openings == 2


def test_what_the_ledger_has_dropped_does_not_come_back() -> None:
    """Of entries that are not in it only those that are newer than all of its own."""
    read = ledger(entry(3, "a-3", ago=60.0))
    old = [entry(number, f"a-{number}", ago=9000.0, state=EntryState.FAILED) for number in (1, 2)]
    assert told(read, *old) is read
    assert [one.number for one in told(read, entry(4, "a-4", ago=30.0)).entries] == [3, 4]
