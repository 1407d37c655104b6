"""The ledger's word about debts is held against the truth."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.model.daemon.ledger import EntryState
from tests.soak.invariants.honest_ledger import HonestLedger
from tests.soak.invariants.ledger_first import Fencing
from tests.unit.soak.story import Story


def test_a_debt_that_was_repaid_may_be_closed() -> None:
    """And the entry goes a day later."""
    story = Story(HonestLedger)
    story.send("web-0")
    story.repay("web-0").close("web-0", EntryState.REPAID).sleep(86_401)
    story.write(structs.replace(story.ledger, entries=()))
    assert story.found == []
    assert story.guard == 1


@pytest.mark.parametrize("state", [EntryState.REPAID, EntryState.REFUSED, EntryState.NOT_EVICTED])
def test_a_debt_that_is_open_may_not_be_closed(state: EntryState) -> None:
    """Whatever it is called."""
    story = Story(HonestLedger)
    story.send("web-0")
    story.close("web-0", state)
    assert len(story.found) == 1


@pytest.mark.parametrize(("answer", "is_right"), [("Conflict", True), ("Failed", False)])
def test_only_a_definite_refusal_is_one(answer: str, is_right: bool) -> None:
    """Nothing was evicted either way, but of one of them nobody can know."""
    story = Story(HonestLedger)
    story.send("web-0", effect="never", answer=answer)
    story.close("web-0", EntryState.REFUSED)
    assert (story.found == []) is is_right


@pytest.mark.parametrize(("seconds", "is_right"), [(60, False), (95, True)])
def test_a_lost_answer_is_in_doubt_for_a_while(seconds: float, is_right: bool) -> None:
    """Ninety seconds."""
    story = Story(HonestLedger)
    story.send("web-0", effect="later", answer="Failed")
    story.sleep(seconds).look("web-0").close("web-0", EntryState.NOT_EVICTED)
    assert (story.found == []) is is_right


@pytest.mark.parametrize(("seconds_ago", "is_found"), [(600.0, False), (0.0, True)])
def test_who_was_shown_an_older_state_is_not_to_blame(seconds_ago: float, is_found: bool) -> None:
    """In which a replacement worked that works no more."""
    story = Story(HonestLedger).sleep(1000)
    story.send("web-0")
    story.read(as_of=story.t - seconds_ago).close("web-0", EntryState.REPAID)
    assert bool(story.found) is is_found


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_pod_in_doubt_that_others_took_is_owed_for(is_replaced: bool) -> None:
    """Nobody can tell whose eviction it was; a replacement that works closes the debt either way."""
    story = Story(HonestLedger)
    story.send("web-0", effect="never", answer="Failed")
    story.go("web-0")
    if is_replaced:
        story.come("web-9", "n3").sleep(40).read()
    story.close("web-0", EntryState.REPAID)
    assert (story.found == []) is is_replaced


def test_a_late_effect_proves_the_ledger_wrong() -> None:
    """It was told that nothing had happened."""
    story = Story(HonestLedger)
    late = story.send("web-0", effect="later", answer="Failed")
    story.sleep(100).look("web-0").close("web-0", EntryState.NOT_EVICTED).sleep(1).take_effect(late)
    assert any("after it was told" in message for message in story.found)


def test_what_was_never_sent_may_be_closed_at_once() -> None:
    """Its announcement took too long, say."""
    story = Story(HonestLedger).intend("web-0", "n3").close("web-0", EntryState.NOT_EVICTED)
    assert story.found == []


@pytest.mark.parametrize("is_open", [True, False])
def test_entries_that_count_do_not_vanish(is_open: bool) -> None:
    """Neither debts nor what is younger than a day."""
    story = Story(HonestLedger)
    story.send("web-0")
    story.repay("web-0")
    if not is_open:
        story.close("web-0", EntryState.REPAID)
    story.write(structs.replace(story.ledger, entries=()))
    assert len(story.found) == 1


def test_two_processes_have_no_plan_of_one_number() -> None:
    """Neither would stop the other."""
    story = Story(Fencing)
    story.send("web-0")
    story.send("web-1", process="p1")
    assert story.found == ["default/web-1 was sent for plan 1, which is not of p1"]
