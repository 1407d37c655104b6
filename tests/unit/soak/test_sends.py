"""What has to be so when an eviction is sent: freshness, fence, intent, audit, place; and what may follow a pause."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.constraints import Taint
from tests.builders import pod
from tests.soak.invariants.accounting import Accountability
from tests.soak.invariants.autoscaling import AutoscalerPeace
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.freshness import Freshness
from tests.soak.invariants.gap import Gap
from tests.soak.invariants.ledger_first import Fencing, IntentFirst
from tests.soak.invariants.places import JointProof
from tests.soak.invariants.planning import SolverFailure
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story


@pytest.mark.parametrize(
    "checker", [Freshness, Fencing, IntentFirst, Accountability, AutoscalerPeace, JointProof, SolverFailure]
)
def test_a_send_with_all_that_belongs_to_it_is_right(checker: type[Checker]) -> None:
    """Nothing is found, though there was something to check."""
    story = Story(checker).sleep(60)
    story.node("n2", taints=(Taint("ToBeDeletedByClusterAutoscaler", "", "NoSchedule"),)).sleep(60)
    story.send("web-0")
    assert story.found == []
    assert story.guard > 0 or checker is SolverFailure


@pytest.mark.parametrize(
    ("checker", "without", "why"),
    [
        (Freshness, "read", "without a snapshot"),
        (Freshness, "look around", "without a live read"),
        (Freshness, "gate", "never asked about it"),
        (Freshness, "around", "never looked at"),
        (IntentFirst, "intent", "its entries in the ledger: none"),
        (Accountability, "audit", "without a line"),
        (SolverFailure, "plan", "does not name it"),
    ],
)
def test_what_is_left_out_is_found(checker: type[Checker], without: str, why: str) -> None:
    """Each step is missed by its checker; the pod itself is read alone or in the look around it."""
    story = Story(checker)
    story.send("web-0", without=without.split())
    assert any(why in message for message in story.found)


def test_ages_at_the_send_are_counted() -> None:
    """Snapshot, live read and verdict, each a little too old."""
    story = Story(Freshness)
    story.read().sleep(8).around("web-0", "n3").gate("web-0", "n3").look("web-0").sleep(2.1)
    story.send("web-0", without=["read", "around", "gate", "look"])
    assert [message.partition("was sent ")[2].split()[0] for message in story.found] == ["on", "2.1", "2.1"]


def test_a_verdict_about_another_pod_is_none() -> None:
    """The gate has just been asked, and permitted: but another pod, or the whole wave a while ago."""
    story = Story(Freshness).read().around("web-0", "n3")
    story.gates([story.move(name, "n3") for name in ("web-0", "web-1")])
    story.sleep(1.5).around("web-1", "n3").gate("web-1", "n3")
    story.send("web-0", without=["read", "around", "gate"])
    assert [message.partition("was sent ")[2] for message in story.found] == ["1.5 s after the gate's verdict about it"]


def test_a_refused_pod_is_not_sent() -> None:
    """Whatever the gate said of it before."""
    story = Story(Freshness).read().around("web-0", "n3").gate("web-0", "n3").refuse("web-0", "n3")
    story.send("web-0", without=["read", "around", "gate"])
    assert ["though the gate refused it" in message for message in story.found] == [True]


def test_a_verdict_is_given_on_what_was_just_read() -> None:
    """Reads that took long, and a gate that was shown what stood before them."""
    story = Story(Freshness).read().around("web-0", "n3", seconds=1.4)
    story.send("web-0", without=["read", "around"])
    assert ["on a verdict about what was read 1.4 s before" in message for message in story.found] == [True]
    story = Story(Freshness).read()
    before = story.store.snapshot()
    story.set_pod("web-1", is_ready=False).around("web-0", "n3").gates([story.move("web-0", "n3")], shown=before)
    story.send("web-0", without=["read", "around", "gate"])
    assert ["did not see default/web-1 as it was read last" in message for message in story.found] == [True]


@pytest.mark.parametrize("fields", [{"uid": ""}, {"resource_version": "1"}, {"resource_version": ""}])
def test_both_preconditions_are_those_of_the_live_read(fields: dict[str, Any]) -> None:
    """Neither may be missing or older."""
    story = Story(Freshness)
    story.set_pod("web-0", restart_count=1)
    story.send("web-0", effect="never", **fields)
    assert story.found


@pytest.mark.parametrize(
    ("change", "why"),
    [({"is_ready": False}, "not Ready"), ({"deletion_at": 1.0}, "terminating"), ({"node_name": "n2"}, "on n2")],
)
def test_the_live_read_has_to_equal_the_plan(change: dict[str, Any], why: str) -> None:
    """Changed between the gate and the look."""
    story = Story(Freshness)
    story.read().around("web-0", "n3").gate("web-0", "n3").set_pod("web-0", **change).look("web-0")
    story.send("web-0", without=["read", "around", "gate", "look"])
    assert any(why in message for message in story.found)


def test_a_pod_that_was_not_ready_in_the_snapshot_either_may_go() -> None:
    """It is as the plan takes it, and takes nothing away."""
    story = Story(Freshness)
    story.set_pod("web-0", is_ready=False)
    story.send("web-0")
    assert story.found == []


def test_a_superseded_plan_sends_nothing() -> None:
    """Somebody else has begun plan 2."""
    story = Story(Fencing)
    story.write(structs.replace(story.ledger, plan=2))
    story.send("web-0", plan=1)
    assert story.found == ["default/web-0 was sent for plan 1 while plan 2 is in force"]


def test_each_send_has_an_intent_of_its_own() -> None:
    """A second try of the same pod needs a second entry."""
    story = Story(IntentFirst)
    story.send("web-0", effect="never", answer="BudgetExhausted")
    story.close("web-0", EntryState.REFUSED)
    story.send("web-0", effect="never", answer="Failed")
    assert story.found == []
    story.send("web-0", without=["intent"])
    assert len(story.found) == 1


@pytest.mark.parametrize("pause", [300.0, 0.0])
def test_an_intent_that_was_closed_during_a_pause_was_one(pause: float) -> None:
    """Nobody can tell a process that stands still right before the write from one that is dead."""
    story = Story(IntentFirst).intend("web-0", "n3").close("web-0", EntryState.NOT_EVICTED)
    story.send("web-0", without=["intent"], pause=pause)
    assert (story.found == []) is bool(pause)


def test_a_pod_is_evicted_once() -> None:
    """By whomsoever of us, and however late the first took effect."""
    story = Story(IntentFirst)
    first = story.send("web-0", effect="later", answer="Failed")
    story.send("web-0", process="p1")
    story.sleep(1).take_effect(first)
    assert any("was evicted at" in message for message in story.found)


def test_an_entry_without_a_reason_is_found() -> None:
    """Nobody could account for it."""
    story = Story(Accountability)
    story.intend("web-0", "n3", reason="")
    story.send("web-0", without=["intent"])
    assert story.found == ["the entry of web-0 in the ledger lacks reason"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"is_ready": False}, "not Ready"),
        ({"is_unschedulable": True}, "cordoned"),
        ({"taints": (Taint("dedicated", "", "NoSchedule"),)}, "taint dedicated"),
        ({"allocatable": (("cpu", 1500), ("memory", 2**40), ("pods", 10))}, "too little cpu"),
        ({"gone": True}, "is not there"),
    ],
)
@pytest.mark.parametrize("seconds", [60, 5])
def test_a_destination_has_to_take_the_pod(fields: dict[str, Any], why: str, seconds: float) -> None:
    """What changed there within the last ten seconds may not have been seen."""
    story = Story(JointProof).node("n3", **fields).sleep(seconds)
    story.gate("web-0", "n3").send("web-0", without=["gate"])
    assert any(why in message for message in story.found) is (seconds > 10)


def test_what_a_stale_read_did_not_show_is_no_reproach() -> None:
    """The API server answered with an older state, in which there was room."""
    story = Story(JointProof).sleep(60)
    as_of = story.t
    story.node("n3", is_unschedulable=True).sleep(60)
    story.read(as_of=as_of).send("web-0", without=["read"])
    assert story.found == []
    story.read().send("web-1", without=["read"])
    assert any("cordoned" in message for message in story.found)


def test_open_debts_keep_their_last_place() -> None:
    """Two pods of 3 CPU on their way, and one hole of 3 CPU."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(3)]
    story = Story(JointProof, a_world(4, 4, *full)).sleep(60)
    story.send("big-0")
    story.go("big-0").come("big-9", None, owner="big").sleep(60)
    story.come("taken-0", "n0").set_pod("taken-0", spec=pod("x", "3").spec).sleep(60)
    assert story.found == []
    story.send("big-1")
    assert any("last place of default/big-0" in message for message in story.found)


def test_a_place_that_was_gone_before_is_not_taken() -> None:
    """Others took it: the pod waits, whatever else is moved."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(3)]
    story = Story(JointProof, a_world(4, 4, *full)).sleep(60)
    story.send("big-0")
    story.go("big-0").come("big-9", None, owner="big").sleep(60)
    for name in ("n0", "n3"):
        story.come(f"taken-{name}", name).set_pod(f"taken-{name}", spec=pod("x", "2").spec)
    story.sleep(60)
    story.send("web-0", "n3")
    assert story.found == []


def test_one_that_found_no_place_does_not_hide_another_that_loses_its_own() -> None:
    """Two debts: one of 4 CPU, for which there never was room again, and one of 3 CPU with one hole left."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(3)]
    huge = pod("huge-0", "3900m", node="n4", owner="huge")
    story = Story(JointProof, a_world(4, 6, *full, huge)).sleep(60)
    story.send("huge-0", "n5")
    story.go("huge-0").come("huge-9", None, owner="huge").sleep(60)
    for name in ("n4", "n5"):
        story.come(f"taken-{name}", name).set_pod(f"taken-{name}", spec=pod("x", "3").spec).sleep(60)
    story.send("big-0", "n3")
    story.go("big-0").come("big-9", None, owner="big").sleep(60)
    story.come("taken-0", "n0").set_pod("taken-0", spec=pod("x", "3").spec).sleep(60)
    assert story.found == []
    story.send("big-1", "n3")
    assert any("last place of default/big-0" in message for message in story.found)


@pytest.mark.parametrize("is_exchange", [True, False])
def test_pods_that_change_places_leave_before_they_arrive(is_exchange: bool) -> None:
    """Each is the other's place, though the gate is asked about the second once more by itself."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(4)]
    story = Story(JointProof, a_world(4, 4, *full)).sleep(60)
    moves = [story.move("big-0", "n1", evict_first=is_exchange), story.move("big-1", "n0", evict_first=is_exchange)]
    story.gates(moves).send("big-0", "n1", without=["gate"])
    story.gates(moves[1:]).send("big-1", "n0", without=["gate"])
    assert (story.found == []) is is_exchange


def changing_places(free: str, *, has_place: bool = False) -> Story:
    """``big-0`` of 1500m on n1 and ``mid-0`` of 1 CPU, or 2, on n0, each to the other's node, where too little is free.

    ``old-0`` of 1500m was evicted before, and has a place if that much is ``free`` on n1.
    """
    pods = [
        pod("mid-0", "2" if has_place else "1", node="n0", owner="mid"), pod("big-0", "1500m", node="n1", owner="big"),
        pod("fill-0", "500m" if has_place else "1500m", node="n0", owner="fill"),
        pod("fill-1", {"500m": "1", "1500m": "0"}[free], node="n1", owner="fill"),
        pod("old-0", "3", node="n2", owner="old"),
    ]  # fmt: skip
    story = Story(JointProof, a_world(4, 4, *pods)).sleep(60)
    story.set_pod("old-0", spec=pod("x", "1500m").spec).send("old-0")
    story.go("old-0").come("old-9", None, owner="old").set_pod("old-9", spec=pod("x", "1500m").spec).sleep(60)
    for name in ("n2", "n3"):
        story.come(f"taken-{name}", name).set_pod(f"taken-{name}", spec=pod("x", "2").spec)
    story.sleep(60)
    moves = [story.move("big-0", "n0", evict_first=True), story.move("mid-0", "n1", evict_first=True)]
    story.gates(moves).send("big-0", "n0", without=["gate"])
    assert story.found == []
    return story.gates(moves[1:])


def test_what_pods_that_change_places_free_for_each_other_was_nobodys_place() -> None:
    """Who waited in vain before they began does so after, and loses nothing."""
    story = changing_places("500m")
    story.send("mid-0", "n1", without=["gate"])
    assert story.found == []


def test_pods_that_change_places_take_no_place_that_was_there_before() -> None:
    """The room on n1 was free before either left."""
    story = changing_places("1500m", has_place=True)
    story.send("mid-0", "n1", without=["gate"])
    assert any("last place of default/old-0" in message for message in story.found)


def test_one_of_those_that_change_places_is_to_have_its_own() -> None:
    """Somebody else comes to where it was to go, before the other one leaves for its node."""
    story = changing_places("500m")
    story.come("late-0", "n0").set_pod("late-0", spec=pod("x", "250m").spec).sleep(60)
    story.send("mid-0", "n1", without=["gate"])
    assert any("default/big-0" in message for message in story.found)


def test_a_node_that_the_autoscaler_takes_is_no_destination() -> None:
    """It says so by a taint."""
    story = Story(AutoscalerPeace)
    story.node("n3", taints=(Taint("ToBeDeletedByClusterAutoscaler", "", "PreferNoSchedule"),))
    story.send("web-0")
    assert any("ToBeDeleted" in message for message in story.found)


def test_an_exception_of_ours_is_found() -> None:
    """Whatever the solver did, the process lives on."""
    assert Story(SolverFailure).process("crash", detail="KeyError: x").found == ["p0 died of an exception: KeyError: x"]


def test_one_stale_send_may_follow_a_pause() -> None:
    """A second one could have been stopped."""
    story = Story(Gap)
    story.process("pause").process("resume")
    story.send("web-0", pause=60.0)
    assert story.found == []
    assert story.guard == 1
    story.send("web-1", pause=60.0)
    assert any("second stale eviction" in message for message in story.found)


@pytest.mark.parametrize(("without", "fields"), [("audit", {"resource_version": ""}), ("intent", {})])
def test_a_stale_send_has_intent_and_preconditions(without: str, fields: dict[str, Any]) -> None:
    """They are what makes it harmless."""
    story = Story(Gap)
    story.send("web-0", pause=60.0, without=[without], **fields)
    assert len(story.found) == 1
