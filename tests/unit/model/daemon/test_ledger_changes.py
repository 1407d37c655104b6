"""What may be done to a ledger: numbers rise, debts stay, and a full one gives up only what counts no more."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger
from rescheduler.model.daemon.ledger_changes import announced, debt_of, fitting, plan_begun, revised, trimmed
from tests.builders import NOW
from tests.unit.execution.entries import entry, ledger_of


def size(ledger: Ledger) -> int:
    """Bytes as JSON."""
    return len(msgspec.json.encode(ledger))


def many(count: int, state: EntryState = EntryState.REPAID) -> Ledger:
    """So many closed evictions, one a minute, the newest just now."""
    found = EMPTY_LEDGER
    for number in range(count):
        at = NOW - 60.0 * (count - number)
        found = announced(found, entry(f"web-{number}", at=at, state=state, reason="r" * 50))
    return found


def test_each_plan_and_each_entry_has_a_number_of_its_own() -> None:
    """Whoever began last is named, and numbers never fall."""
    ledger = plan_begun(plan_begun(EMPTY_LEDGER, "a"), "b")
    assert (ledger.plan, ledger.holder) == (2, "b")
    ledger = announced(announced(ledger, entry("web-0", number=9)), entry("web-1"))
    assert [item.number for item in ledger.entries] == [1, 2]
    assert announced(structs.replace(ledger, entries=()), entry()).entries[0].number == 3


def test_entries_are_revised_by_pod_and_time() -> None:
    """Another eviction of the same pod, which was refused, stays as it is."""
    first, second = entry(at=NOW, state=EntryState.REFUSED), entry(at=NOW + 5)
    found = revised(ledger_of(first, second), {(second.pod.uid, second.at): {"landed_on": "n2"}})
    assert [item.landed_on for item in found.entries] == [None, "n2"]
    assert revised(found, {("unknown", NOW): {"landed_on": "n3"}}) == found


def test_only_an_open_entry_is_a_debt() -> None:
    """A pod that was refused and then announced again has one."""
    ledger = ledger_of(entry(state=EntryState.REFUSED), entry(at=NOW + 5, state=EntryState.INTENDED))
    assert debt_of(ledger, "uid-default-web-0") == ledger.entries[1]
    assert debt_of(ledger_of(entry(state=EntryState.REPAID)), "uid-default-web-0") is None


@given(st.lists(st.tuples(st.sampled_from(EntryState), st.floats(0, 200_000)), max_size=30), st.floats(0, 200_000))
def test_trimming_drops_only_what_is_old_and_over(kinds: list[tuple[EntryState, float]], keep: float) -> None:
    """Debts stay however old they are; the order stays."""
    entries = [entry(f"web-{n}", at=NOW - age, state=state) for n, (state, age) in enumerate(kinds)]
    kept = trimmed(ledger_of(*entries), NOW, keep).entries
    assert list(kept) == [item for item in entries if item.is_debt or NOW - item.at <= keep]


def test_a_ledger_that_fits_is_left_alone() -> None:
    """Also at exactly the largest size."""
    ledger = many(5)
    assert fitting(ledger, NOW, 0.0, size, size(ledger)) == ledger


def test_words_go_first_then_refusals_then_what_counts_no_more() -> None:
    """The newest are kept longest."""
    ledger = many(20)
    wordless = fitting(ledger, NOW, 0.0, size, size(ledger) - 1)
    assert wordless is not None
    assert len(wordless.entries) == 20
    assert {item.reason for item in wordless.entries} == {""}
    smaller = fitting(ledger, NOW, 0.0, size, size(wordless) - 1)
    assert smaller is not None
    assert [item.number for item in smaller.entries] == list(range(3, 21))


def test_what_still_counts_is_never_dropped() -> None:
    """Then there is no such ledger, and nothing may be sent."""
    ledger = many(20)
    assert fitting(ledger, NOW, 3600.0, size, 1000) is None
    debts = many(20, EntryState.OPEN)
    assert fitting(debts, NOW, 0.0, size, size(debts) - 1) is None


@given(st.lists(st.sampled_from(EntryState), min_size=1, max_size=25), st.integers(200, 8000), st.floats(0, 1500))
def test_fitting_keeps_debts_and_what_counts(states: list[EntryState], largest: int, counted: float) -> None:
    """Whatever the size asked for."""
    ledger = EMPTY_LEDGER
    for number, state in enumerate(states):
        ledger = announced(ledger, entry(f"web-{number}", at=NOW - 60.0 * (len(states) - number), state=state))
    found = fitting(ledger, NOW, counted, size, largest)
    if found is None:
        return
    assert size(found) <= largest
    kept = {item.number for item in found.entries}
    sent = (EntryState.REPAID, EntryState.FAILED)
    for item in ledger.entries:
        if item.is_debt or (item.state in sent and NOW - item.at <= counted):
            assert item.number in kept
