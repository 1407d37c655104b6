"""What may be done to a ledger: numbers rise, debts stay, and no entry takes much room."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState
from rescheduler.model.daemon.ledger_changes import (
    LONGEST_TEXT,
    announced,
    bounded,
    debt_of,
    plan_begun,
    revised,
    trimmed,
)
from tests.builders import NOW
from tests.unit.execution.entries import entry, ledger_of


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


def test_an_entry_takes_little_room_whatever_stands_on_its_pod() -> None:
    """Labels that no budget uses are dropped, texts are cut; which labels are known is written down."""
    labels = {"app": "web", **{f"key-{number}": "x" * 63 for number in range(7_000)}}
    huge = entry(labels=labels, reason="r" * 9_000, message="m" * 9_000, failure="f" * 9_000)
    [found] = bounded(ledger_of(huge), ["tier", "app"]).entries
    assert (found.labels, found.label_keys) == ({"app": "web"}, ("app", "tier"))
    assert len(msgspec.json.encode(found)) < 2_000
    assert structs.replace(found, labels=labels, label_keys=None, reason=huge.reason, message=huge.message,
                           failure=huge.failure) == huge  # fmt: skip


def test_an_entry_that_was_bounded_stays_as_it_is() -> None:
    """Another process may count other labels: what it does not know of it does not forget."""
    ledger = bounded(ledger_of(entry(labels={"app": "web"})), ["app"])
    assert bounded(ledger, ["tier"]) is ledger


def test_texts_that_are_learned_later_are_cut_as_well() -> None:
    """A server's answer may be long."""
    ledger = announced(EMPTY_LEDGER, entry(reason="r" * 9_000))
    [found] = revised(ledger, {("uid-default-web-0", NOW): {"message": "m" * 9_000}}).entries
    assert (len(found.reason), len(found.message)) == (LONGEST_TEXT, LONGEST_TEXT)
