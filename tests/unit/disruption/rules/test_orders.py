"""Tests of what forbids moving for now: kill switch, breaker, back-off; and what ramp-up and trial leave."""

from __future__ import annotations

from typing import Any

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.kill_switch import stop_mark
from rescheduler.model.daemon.ledger import Breaker, EntryState, Ledger
from rescheduler.model.objects.workload import Namespace
from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import HOUR, entry, ledger

SEEN = cluster(node("n1", cpu="64"), workload("web", 20), *(pod(f"web-{n}", node="n1") for n in range(20)))


def rules(past: Ledger, **options: Any) -> set[str]:
    """The rules that refuse pods, to a daemon unless said otherwise."""
    found = decide_eligibility(SEEN, Policy(), ledger=past, **{"is_daemon": True, **options})
    return {refusal.rule for refusal in found.refusals.values()}


def careful(past: Ledger, by: Policy, **options: Any) -> list[DisruptionGroup]:
    """Groups that ramp-up and breaker add."""
    groups = decide_eligibility(SEEN, by, ledger=past, **{"is_daemon": True, **options}).groups
    return [group for group in groups if group.rule in ("RampUp", "Breaker")]


def test_the_kill_switch_binds_everybody() -> None:
    """With or without a daemon; the reason is told."""
    found = decide_eligibility(SEEN, Policy(), stop="maintenance")
    assert not found.movable
    assert found.refusals[0].message == "default/web-0 stays: everything is stopped: maintenance"
    assert rules(ledger(), stop="x", is_daemon=False) == {"Stop"}


def test_an_open_breaker_binds_the_daemon() -> None:
    """A person may go on."""
    past = ledger(breaker=Breaker(opened_at=NOW - 60, openings=1, reason="because"))
    assert rules(past) == {"Breaker"}
    assert rules(past, is_daemon=False) == set()
    assert rules(ledger()) == set()


def test_a_breaker_whose_trial_is_due_leaves_one() -> None:
    """At a time: repaid, it closes the breaker before the next wave."""
    past = ledger(breaker=Breaker(opened_at=NOW - 2 * HOUR, openings=1, reason="because"))
    assert rules(past) == set()
    (found,) = careful(past, Policy())
    assert (found.rule, found.allowed_per_wave, found.allowed_in_plan, len(found.pods)) == ("Breaker", 1, None, 20)
    assert careful(past, Policy(), is_daemon=False) == []


def test_back_off_binds_the_daemon() -> None:
    """By workload and node."""
    past = ledger(entry(ago=60, landed_on="n3"))
    assert rules(past) == {"BackOff"}
    assert rules(past, is_daemon=False) == set()
    assert rules(ledger(entry(ago=60, landed_on="n3", workload="another"))) == set()


SLOW = policy(disruption={"rampUp": {"start": 2, "window": "30m"}})
MINE = frozenset({"uid-default-web-3", "uid-default-web-4", "uid-default-web-5"})


def ramped(past: Ledger, granted: frozenset[str] | None) -> list[tuple[str, int | None, int]]:
    """Names, numbers and sizes of the groups that the ramp-up adds."""
    groups = careful(past, SLOW, granted=granted)
    return [(group.name, group.allowed_in_plan, len(group.pods)) for group in groups]


def test_the_ramp_up_binds_what_is_sent() -> None:
    """What the sliding window leaves, named with its number; plans are made without it."""
    sent = ledger(entry(ago=60, workload="", state=EntryState.OPEN))
    assert ramped(sent, frozenset()) == [("the ramp-up (2 in 30m)", 1, 19)]
    assert ramped(sent, None) == []
    assert careful(sent, SLOW, granted=frozenset(), is_daemon=False) == []
    assert careful(sent, policy(disruption={"rampUp": "unlimited"}), granted=frozenset()) == []


def test_a_step_that_was_granted_goes_whole_and_nothing_beside_it() -> None:
    """However many it takes; what it has sent of itself does not stand in its way."""
    assert ramped(ledger(), MINE) == [("the ramp-up (2 in 30m)", 0, 17)]
    begun = ledger(entry(3, ago=60, workload="", state=EntryState.REPAID))
    assert ramped(begun, MINE) == [("the ramp-up (2 in 30m)", 0, 17)]


def test_a_step_does_not_go_whole_once_others_have_sent_something() -> None:
    """A person's ``apply`` in between, say: then all that counts is the number."""
    others = ledger(*(entry(number, ago=60, workload="") for number in (3, 9)))
    assert ramped(others, MINE) == [("the ramp-up (2 in 30m)", 0, 17), ("the ramp-up (2 in 30m)", 0, 20)]


def test_the_ramp_up_ends_at_the_evictions_that_are_allowed_in_an_hour() -> None:
    """Then the rates bind by themselves."""
    by = policy(disruption={"rampUp": {"start": 2}, "rates": {"perHour": 8}})
    for days, groups in ((1.9, 1), (2.1, 0)):
        past = ledger(clean_since=NOW - days * 24 * HOUR)
        assert len(careful(past, by, granted=frozenset())) == groups


def test_the_kill_switch_may_be_a_mark_on_the_namespace() -> None:
    """Of our own objects, with a reason or without."""
    marks = {"rescheduler.dev/stop": "fire\nin the hall"}
    holds = Namespace("rescheduler-holds", {}, marks)
    text = stop_mark(cluster(namespaces=(Namespace("a"), holds)), Policy())
    assert text is not None
    assert text.startswith("fire")
    assert "\n" not in text
    assert text.endswith("(annotation rescheduler.dev/stop on namespace rescheduler-holds)")
    assert stop_mark(cluster(namespaces=(holds,)), policy(hold={"namespace": "elsewhere"})) is None
    empty = Namespace("rescheduler-holds", {}, {"rescheduler.dev/stop": ""})
    assert (stop_mark(cluster(namespaces=(empty,)), Policy()) or "").startswith("no reason given")
    assert stop_mark(cluster(), Policy()) is None
    long = Namespace("rescheduler-holds", {}, {"rescheduler.dev/stop": "x" * 201})
    assert (stop_mark(cluster(namespaces=(long,)), Policy()) or "").startswith(f"{'x' * 200}... (annotation")


def test_a_pending_pod_that_is_left_to_an_autoscaler_is_not_helped() -> None:
    """With the reason; others are."""
    seen = cluster(node("n1"), pod("a-0"), pod("b-0"))
    found = decide_eligibility(seen, Policy(), left={seen.pods[0].uid: "waits for a new node"})
    assert found.helpable == (1,)
    assert "waits for a new node" in found.not_helpable[0].message
