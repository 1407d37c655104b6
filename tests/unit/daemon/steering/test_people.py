"""What people may ask, and what they are told."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.daemon.steering.controls import Controls
from rescheduler.daemon.steering.people import tag_of
from rescheduler.daemon.steering.steering_errors import (
    ApprovalRefusedError,
    ChangedError,
    KeyReusedError,
    ObjectionError,
    UnknownHeldPolicyError,
    UnknownPlanError,
)
from rescheduler.model.daemon.notices import PolicyAcknowledged, PolicyHeld
from tests.unit.daemon.plans import Heard, plan


def controls(**given: Any) -> tuple[Controls, Heard]:
    """Controls in which plan "one" waits, and what they tell."""
    heard = Heard()
    found = Controls(SimulatedClock(1000.0), heard, **given)
    found.propose("one", plan("a"), 1000.0)
    heard.notices.clear()
    return found, heard


def test_a_request_sent_again_with_its_key_is_one_request() -> None:
    """Also when the loop has taken it; another person's key is another key."""
    bench, _ = controls()
    first = bench.people.trigger("jane", "now", "k")
    assert bench.people.trigger("jane", "now", "k") == first
    assert len(bench.take_requests()) == 1
    assert bench.people.trigger("jane", "now", "k") == first
    assert bench.take_requests() == ()
    bench.people.trigger("joe", "now", "k")
    assert len(bench.take_requests()) == 1
    with pytest.raises(KeyReusedError):
        bench.people.trigger("jane", "for another reason", "k")


def test_requests_are_not_kept_without_end() -> None:
    """The newest of very many wait, whatever keys they bear."""
    bench, _ = controls()
    for number in range(400):
        bench.people.trigger("jane", str(number), f"k{number}")
    found = bench.take_requests()
    assert len(found) == 256
    assert found[-1].reason == "399"


def test_a_yes_wakes_the_loop_and_names_who_said_it() -> None:
    """Once, whatever is sent again."""
    bench, heard = controls()
    first = bench.people.approve("one", "jane", "k")
    assert bench.wake.is_set()
    assert bench.people.approve("one", "jane", "k") == first
    assert heard.kinds == ["ApprovalGiven"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ObjectionError("the circuit breaker is open", 2000.0), "the circuit breaker is open"),
        (ObjectionError("frozen: too many nodes are not ready"), "frozen: too many"),
    ],
)
def test_nothing_is_approved_that_could_not_be_carried_out(error: ObjectionError, text: str) -> None:
    """The plan goes on waiting; later the same request is a yes."""
    problems: list[ObjectionError] = [error]
    bench, heard = controls(objection=lambda _: problems[0] if problems else None)
    with pytest.raises(ObjectionError, match=text) as caught:
        bench.people.approve("one", "jane", "k")
    assert caught.value.until == error.until
    assert heard.kinds == []
    problems.clear()
    assert bench.people.approve("one", "jane", "k").who == "jane"


def test_a_pause_objects_too_and_says_until_when() -> None:
    """Whoever pauses means every plan."""
    bench, _ = controls()
    bench.people.pause("joe", "upgrade", 60.0)
    with pytest.raises(ObjectionError, match="paused by joe: upgrade") as caught:
        bench.people.approve("one", "jane")
    assert caught.value.until == 1060.0
    bench.people.resume("joe")
    bench.people.approve("one", "jane")


def test_what_was_seen_must_still_be_so() -> None:
    """For a yes, a pause and a resumption; a repeated yes needs no tag at all."""
    bench, heard = controls()
    seen = tag_of(bench.proposal(), "one")
    with pytest.raises(ChangedError):
        bench.people.approve("one", "jane", matches=lambda tag: tag == "something else")
    first = bench.people.approve("one", "jane", "k", matches=lambda tag: tag == seen)
    assert bench.people.approve("one", "jane", "k", matches=lambda tag: tag == seen) == first
    assert tag_of(bench.proposal(), "one") != seen
    with pytest.raises(ChangedError):
        bench.people.pause("jane", "x", None, matches=lambda _: False)
    switch = bench.people.pause("jane", "x", None)
    with pytest.raises(ChangedError):
        bench.people.resume("joe", matches=lambda tag: tag != switch.tag)
    assert heard.kinds == ["ApprovalGiven", "Paused"]


def test_unknown_and_spent_plans_are_told_apart() -> None:
    """One is not there, the other was there."""
    bench, _ = controls()
    with pytest.raises(UnknownPlanError):
        bench.people.approve("none", "jane")
    bench.propose("two", plan("b"), 1001.0)
    with pytest.raises(ApprovalRefusedError, match="plan two waits now"):
        bench.people.approve("one", "jane")


def test_only_the_policy_that_is_held_can_be_acknowledged() -> None:
    """By its number; who said yes is handed on."""
    said: list[tuple[str, str]] = []
    bench, heard = controls(acknowledge=lambda number, who: said.append((number, who)))
    with pytest.raises(UnknownHeldPolicyError):
        bench.people.acknowledge("h1", "jane")
    bench.hear(PolicyHeld(0.0, "p1", "h1", ("+412 pods",)))
    with pytest.raises(UnknownHeldPolicyError):
        bench.people.acknowledge("h2", "jane")
    bench.people.acknowledge("h1", "jane")
    assert said == [("h1", "jane")]
    assert heard.notices == [PolicyAcknowledged(1000.0, "h1", "jane")]
    assert bench.wake.is_set()


def test_where_no_policy_can_be_held_there_is_none_to_acknowledge() -> None:
    """Whatever is told."""
    bench, _ = controls()
    bench.hear(PolicyHeld(0.0, "p1", "h1", ()))
    with pytest.raises(UnknownHeldPolicyError):
        bench.people.acknowledge("h1", "jane")
