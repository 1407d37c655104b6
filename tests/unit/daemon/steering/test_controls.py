"""The bridge between loop and people, from the loop's side."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.daemon.steering.controls import MARK_SECONDS, Controls
from rescheduler.daemon.steering.steering_errors import NotLeadingError
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.notices import Fault, LeadershipChanged, Notice, PolicyLoaded, RoundEnded
from rescheduler.model.daemon.round_digest import digest_of
from tests.builders import cluster
from tests.unit.daemon.plans import Heard, plan, report


class Bench:
    """Controls that hear what they tell, as in a daemon; ``mark``: what the annotation says, None: unreadable."""

    def __init__(self, **given: Any) -> None:
        self.clock = SimulatedClock(1000.0)
        self.heard = Heard()
        self.mark: str | None = ""
        self.reads = 0
        self.controls = Controls(self.clock, self.tell, **{"read_mark": self.read_mark, **given})

    def tell(self, notice: Notice) -> None:
        """To everybody, the controls among them."""
        self.heard(notice)
        self.controls.hear(notice)

    def read_mark(self) -> str:
        """What the annotation says."""
        self.reads += 1
        if self.mark is None:
            raise ClusterError("the API server is away")
        return self.mark

    def propose(self, number: str = "one", *pods: str) -> None:
        """A round's plan waits."""
        self.controls.propose(number, plan(*(pods or ("a",))), self.clock.now())


def test_requests_wake_the_loop_and_are_taken_once() -> None:
    """The flag is set while something waits."""
    bench = Bench()
    assert not bench.controls.wake.is_set()
    made = bench.controls.people.trigger("jane", "now, please")
    assert bench.controls.wake.is_set()
    assert bench.controls.take_requests() == (made,)
    assert (made.who, made.how, made.reason, made.at) == ("jane", "REST", "now, please", 1000.0)
    assert not bench.controls.wake.is_set()
    assert bench.controls.take_requests() == ()


def test_a_pause_is_told_to_the_loop_until_it_runs_out() -> None:
    """And then everybody hears of it."""
    bench = Bench()
    assert bench.controls.paused() is None
    bench.controls.people.pause("jane", "upgrade", 60.0)
    assert bench.controls.paused() == "paused by jane: upgrade, until 1970-01-01 00:17:40 UTC"
    bench.clock.sleep(60)
    assert bench.controls.paused() is None
    assert bench.heard.kinds == ["Paused", "Resumed"]


def test_an_approved_plan_is_handed_out_once_with_its_own_number_and_who() -> None:
    """It is the plan that was shown, though a later round has words of its own."""
    bench = Bench()
    bench.propose()
    assert bench.controls.approved_plan() is None
    bench.controls.propose("other-number", plan("a", reason="other words"), 1001.0)
    bench.controls.people.approve("one", "jane")
    approval = bench.controls.approved("one")
    assert approval is not None
    assert approval.who == "jane"
    assert bench.controls.approved("other-number") is None
    assert bench.controls.approved_plan() == ("one", plan("a"), "jane")
    assert bench.controls.approved_plan() is None
    assert bench.heard.kinds == ["ApprovalWanted", "ApprovalGiven"]


def test_how_long_plans_wait_is_asked_each_time() -> None:
    """The policy may change it."""
    seconds = [10.0]
    bench = Bench(expires=lambda: seconds[0])
    bench.propose()
    bench.clock.sleep(10)
    assert bench.controls.proposal() is None
    seconds[0] = 99.0
    bench.propose("two", "b")
    bench.clock.sleep(98)
    assert bench.controls.proposal() is not None


def test_the_annotation_approves_without_any_server() -> None:
    """It is looked at now and then while something waits, and not at all otherwise."""
    bench = Bench()
    bench.controls.approved_plan()
    assert bench.reads == 0
    bench.propose()
    bench.mark = "one"
    assert bench.controls.approved_plan() == ("one", plan("a"), "annotation")
    reads = bench.reads
    bench.propose("two", "b")
    for _ in range(20):
        bench.controls.approved_plan()
        bench.clock.sleep(MARK_SECONDS / 5)
    assert bench.reads - reads <= 1 + 5


def test_an_annotation_that_stood_there_before_does_not_count() -> None:
    """Its yes was for a plan that has ended."""
    bench = Bench()
    bench.mark = "one"
    bench.propose()
    for _ in range(3):
        assert bench.controls.approved_plan() is None
        bench.clock.sleep(MARK_SECONDS)
    bench.mark = ""
    bench.controls.approved_plan()
    bench.clock.sleep(MARK_SECONDS)
    bench.mark = "one"
    assert bench.controls.approved_plan() is not None


def test_an_annotation_that_cannot_be_read_is_told_once_and_approves_nothing() -> None:
    """Reading goes on; the same words are not repeated."""
    bench = Bench()
    bench.mark = None
    bench.propose()
    for _ in range(4):
        assert bench.controls.approved_plan() is None
        bench.clock.sleep(MARK_SECONDS)
    faults = [notice for notice in bench.heard.notices if isinstance(notice, Fault)]
    assert [fault.message for fault in faults] == ["the annotation cannot be read: the API server is away"]


def test_a_follower_neither_obeys_nor_hands_out_plans() -> None:
    """Every acting call says who leads."""
    bench = Bench(is_elected=True)
    for act in (
        lambda: bench.controls.people.trigger("jane", ""),
        lambda: bench.controls.people.pause("jane", "x", None),
        lambda: bench.controls.people.resume("jane"),
        lambda: bench.controls.people.approve("one", "jane"),
        lambda: bench.controls.people.acknowledge("h", "jane"),
    ):
        with pytest.raises(NotLeadingError, match="nobody is known to lead"):
            act()
    bench.tell(LeadershipChanged(1.0, False, "rescheduler-b"))
    with pytest.raises(NotLeadingError, match="rescheduler-b leads; ask there") as caught:
        bench.controls.people.trigger("jane", "")
    assert caught.value.holder == "rescheduler-b"
    bench.tell(LeadershipChanged(2.0, True, "rescheduler-a"))
    bench.controls.people.trigger("jane", "")


def test_what_waits_ends_with_the_leadership() -> None:
    """Approved or not: the next leader makes plans of its own."""
    bench = Bench()
    bench.propose()
    bench.controls.people.approve("one", "jane")
    bench.tell(LeadershipChanged(1.0, False, "b"))
    assert bench.controls.approved_plan() is None
    bench.tell(LeadershipChanged(2.0, True, "a"))
    assert bench.controls.approved_plan() is None
    assert bench.heard.kinds[-2:] == ["ApprovalEnded", "LeadershipChanged"]


def test_what_waits_ends_with_its_policy() -> None:
    """The same policy, read again, changes nothing."""
    bench = Bench()
    bench.tell(PolicyLoaded(0.0, "p1", "name", "Approve"))
    bench.propose()
    bench.tell(PolicyLoaded(1.0, "p1", "name", "Approve"))
    assert bench.controls.proposal() is not None
    bench.tell(PolicyLoaded(2.0, "p2", "name", "DryRun"))
    assert bench.controls.proposal() is None


def test_the_last_rounds_and_the_newest_snapshot_are_kept() -> None:
    """Fifty rounds, whoever hears them."""
    bench = Bench()
    for number in range(1, 61):
        bench.tell(RoundEnded(0.0, report(number)))
    seen = cluster()
    bench.controls.publish(seen)
    state = bench.controls.state()
    assert [one.number for one in state.rounds] == list(range(11, 61))
    assert state.cluster is seen
    assert state.round(60) == report(60)
    assert state.round(10) is None


def test_rounds_of_the_process_before_come_before_our_own() -> None:
    """In short alone: nothing of theirs can be approved, explained or asked for."""
    bench = Bench()
    bench.controls.remember((digest_of(report(7)),))
    bench.tell(RoundEnded(0.0, report(1)))
    state = bench.controls.state()
    assert [one.number for one in state.past] == [7, 1]
    assert [one.number for one in state.rounds] == [1]
