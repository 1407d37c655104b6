"""The floor under workloads is judged by the truth: debts at the send, ready pods at the effect."""

from __future__ import annotations

import pytest

from tests.soak.invariants.workload_floor import NoBudgetIsNoPermission, SeveralLeaders, WorkloadFloor
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story


def test_one_debt_after_the_other_is_right() -> None:
    """The second pod goes when the first is replaced, and the new one has worked for half a minute."""
    story = Story(WorkloadFloor)
    story.send("web-0")
    story.repay("web-0")
    story.send("web-1")
    assert story.found == []
    assert story.guard == 4


def test_a_second_debt_is_found() -> None:
    """Two of four pods at once, where one may be missing."""
    story = Story(WorkloadFloor)
    story.send("web-0")
    story.sleep(20)
    story.send("web-1")
    assert any("debt 2 of 1" in message for message in story.found)
    assert any("3 of 4" in message for message in story.found)


def test_a_replacement_that_has_just_come_closes_nothing() -> None:
    """It may crash as it starts."""
    story = Story(WorkloadFloor)
    story.send("web-0")
    story.go("web-0").come("web-9", "n3").sleep(20).read()
    story.send("web-1")
    assert any("debt 2 of 1" in message for message in story.found)


@pytest.mark.parametrize(("answer", "is_debt"), [("TooManyRequests", False), ("Conflict", False), ("Failed", True)])
def test_only_a_definite_refusal_closes_a_debt_at_once(answer: str, is_debt: bool) -> None:
    """A lost answer does not, whatever truly happened."""
    story = Story(WorkloadFloor)
    story.send("web-0", effect="never", answer=answer)
    story.sleep(20)
    story.send("web-1")
    assert bool(story.found) is is_debt


@pytest.mark.parametrize(("seconds", "is_debt"), [(80, True), (95, False)])
def test_a_doubt_ends_with_a_late_look_at_the_pod(seconds: float, is_debt: bool) -> None:
    """Ninety seconds after the request ended an unharmed pod proves that nothing happened."""
    story = Story(WorkloadFloor)
    story.send("web-0", effect="never", answer="Failed")
    story.sleep(seconds).look("web-0")
    story.send("web-1")
    assert bool(story.found) is is_debt


@pytest.mark.parametrize(("seconds", "is_excused"), [(4.0, True), (6.0, False)])
def test_what_was_just_lost_is_no_reproach(seconds: float, is_excused: bool) -> None:
    """A pod that failed less than five seconds before the send cannot have been seen."""
    story = Story(WorkloadFloor)
    story.set_pod("web-3", is_ready=False).sleep(seconds)
    story.send("web-0")
    assert (story.found == []) is is_excused


def test_what_we_took_ourselves_is_no_excuse() -> None:
    """Two effects within a second count both, even where the debt of one is not ours to see."""
    story = Story(WorkloadFloor)
    story.send("web-0")
    story.send("web-1")
    assert any("evicted while 3 of 4" in message for message in story.found)


def test_a_stale_send_after_a_pause_counts_apart() -> None:
    """Each process that was held up exactly there may add one."""
    story = Story(WorkloadFloor)
    story.start("p1")
    story.send("web-0", process="p1", pause=30.0)
    story.send("web-1", process="p1", pause=30.0)
    assert len(story.found) == 0
    story.send("web-2")
    assert any("debt 3 of 1" in message for message in story.found)


def test_a_single_replica_has_no_debt_to_spare() -> None:
    """Unless the policy allows it."""
    alone = Story(WorkloadFloor, a_world(1))
    alone.send("web-0")
    assert any("debt 1 of 0" in message for message in alone.found)
    allowed = Story(WorkloadFloor, a_world(1), "disruption: {singleReplicas: Allow}")
    allowed.send("web-0")
    assert allowed.found == []


def test_a_share_is_rounded_towards_fewer() -> None:
    """10 % of 19 is one."""
    story = Story(WorkloadFloor, a_world(19, 19))
    story.send("web-0")
    story.send("web-1")
    assert any("debt 2 of 1" in message for message in story.found)


def test_a_workload_without_a_pdb_is_judged_alike() -> None:
    """I4 reports it too."""
    story = Story(NoBudgetIsNoPermission)
    story.send("web-0")
    story.send("web-1")
    assert story.found


@pytest.mark.parametrize("others", [True, False])
def test_two_leaders_are_judged_together(others: bool) -> None:
    """I21 looks only while several processes live."""
    story = Story(SeveralLeaders)
    if others:
        story.start("p1")
    story.send("web-0")
    story.send("web-1", process="p1" if others else "p0")
    assert bool(story.found) is others
