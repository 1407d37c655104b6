"""Leader election, step by step on a fake clock: who leads, until when, and what it takes to take over."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.daemon.leadership.leadership import Leadership, NoElection
from rescheduler.model.daemon.lease import LeaseRecord
from rescheduler.model.daemon.notices import Fault, LeadershipChanged, Notice
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy
from tests.unit.daemon.leases import FakeLease, OwnClock

RULES = LeaderElectionPolicy()


class Scene:
    """True time, one lease, and the processes that want it."""

    def __init__(self) -> None:
        self.time = 0.0
        self.lease = FakeLease()
        self.heard: dict[str, list[Notice]] = {}
        self.clocks: dict[str, OwnClock] = {}

    def process(self, name: str, **clock: float) -> Leadership:
        """One more process."""
        self.clocks[name] = OwnClock(lambda: self.time, **clock)
        heard = self.heard.setdefault(name, [])
        return Leadership(self.lease, RULES, self.clocks[name], name, heard.append)

    def run(self, seconds: float, *processes: Leadership) -> None:
        """Let processes make their steps, each when its own is due."""
        end = self.time + seconds
        due = dict.fromkeys(processes, self.time)
        while due and min(due.values()) <= end:
            process = min(due, key=lambda one: due[one])
            self.time = max(self.time, due[process])
            due[process] = self.time + process.step()
        self.time = end

    def led(self, name: str) -> list[tuple[bool, str]]:
        """What one process has told of leadership: whether it leads, and who does."""
        return [(told.is_leader, told.holder) for told in self.heard[name] if isinstance(told, LeadershipChanged)]

    def reasons(self, name: str) -> list[str]:
        """Why, each time."""
        return [told.reason for told in self.heard[name] if isinstance(told, LeadershipChanged)]


@pytest.fixture
def scene() -> Scene:
    """An empty cluster."""
    return Scene()


def leading(scene: Scene, name: str = "a") -> Leadership:
    """A process that leads, right after a renewal."""
    process = scene.process(name)
    scene.run(16, process)
    assert process.is_leader
    scene.time += process.step()
    process.step()
    return process


def test_a_lease_that_nobody_holds_is_taken_only_after_its_whole_duration(scene: Scene) -> None:
    """That there is none may mean that somebody has just deleted it under a leader."""
    process = scene.process("a")
    scene.run(14.9, process)
    assert not process.is_leader
    assert process.fence() is not None
    scene.run(0.2, process)
    assert process.is_leader
    assert process.fence() is None
    assert scene.led("a") == [(False, ""), (True, "a")]


def test_the_leader_leads_on_while_it_renews(scene: Scene) -> None:
    """Over ten minutes nothing is told, and the lease is renewed about every two seconds."""
    process = leading(scene)
    scene.lease.requests.clear()
    scene.run(600, process)
    assert process.is_leader
    assert scene.led("a") == [(False, ""), (True, "a")]
    assert 295 <= scene.lease.requests.count("update") <= 305
    assert set(scene.lease.requests) == {"update"}, "the leader need not read what it has written"


def test_the_end_is_counted_from_the_beginning_of_the_last_renewal(scene: Scene) -> None:
    """A renewal whose answer took four seconds gives six more, not ten."""
    process = leading(scene)

    def slow() -> None:
        scene.time += 4

    began = scene.time
    scene.lease.meanwhile = slow
    process.step()
    scene.time = began + 9.9
    assert process.is_leader
    scene.time = began + 10.1
    assert not process.is_leader


def test_an_answer_that_comes_too_late_renews_nothing(scene: Scene) -> None:
    """The renewal stands in the lease, and yet we do not lead when it has taken longer than the deadline."""
    process = leading(scene)

    def stuck() -> None:
        scene.time += 11

    scene.lease.meanwhile = stuck
    process.step()
    assert not process.is_leader
    assert scene.led("a")[-1] == (False, "a")


def test_without_renewal_it_ends_by_itself_and_says_why(scene: Scene) -> None:
    """No step is needed to lose it; the step that is due then tells."""
    process = leading(scene)
    began = scene.time
    while scene.time - began < 10:
        scene.lease.fault = "before"
        scene.time += process.step()
    assert not process.is_leader
    scene.lease.fault = "before"
    process.step()
    assert scene.led("a")[-1] == (False, "a")
    assert scene.reasons("a")[-1] == "the lease was not renewed within 10s: no answer"
    assert "no answer" in (process.fence() or "")
    faults = [told for told in scene.heard["a"] if isinstance(told, Fault)]
    assert len(faults) == 1, "the same problem is told once"


def test_a_paused_leader_does_not_lead_when_it_wakes(scene: Scene) -> None:
    """SIGSTOP for a minute between two lines: the fence is closed before any step is made."""
    process = leading(scene)
    scene.time += 60
    assert not process.is_leader
    assert process.fence() is not None


def test_a_leader_that_was_cut_off_leads_again_at_once_if_nobody_took_over(scene: Scene) -> None:
    """Its own last write still stands, so that nobody else can have led meanwhile."""
    process = leading(scene)
    scene.time += 60
    process.step()
    assert process.is_leader
    assert scene.led("a")[-1] == (True, "a")


def test_the_other_takes_over_no_earlier_than_the_lease_ends_for_the_leader(scene: Scene) -> None:
    """After the leader died, within the duration and a little more than half a retry period."""
    first = leading(scene)
    second = scene.process("b")
    scene.run(20, first, second)
    assert (first.is_leader, second.is_leader) == (True, False)
    died = scene.time
    while not second.is_leader:
        scene.time += second.step()
        assert not (first.is_leader and second.is_leader)
    assert 13 <= scene.time - died <= 15 + RULES.retry_period
    assert scene.led("b") == [(False, "a"), (True, "b")]
    assert "a has not renewed the lease for 15s" in scene.reasons("b")[-1]
    assert second.transitions == 1


def test_whoever_comes_new_waits_the_whole_duration_however_old_the_lease_looks(scene: Scene) -> None:
    """The times in the lease are another machine's: an hour ago may be now."""
    scene.lease.put(LeaseRecord("other", 15, acquired_at=1.0, renewed_at=1.0))
    process = scene.process("a")
    scene.run(14.9, process)
    assert not process.is_leader
    scene.run(0.2, process)
    assert process.is_leader


def test_the_duration_that_the_holder_wrote_counts_where_it_is_longer(scene: Scene) -> None:
    """Another version or policy may lead for longer than we would; a nonsensical number does not bind for ever."""
    scene.lease.put(LeaseRecord("other", 40))
    process = scene.process("a")
    scene.run(39.9, process)
    assert not process.is_leader
    scene.run(0.2, process)
    assert process.is_leader
    scene.lease.put(LeaseRecord("other", 2**31 - 1))
    scene.run(3590, process)
    assert not process.is_leader
    scene.run(20, process)
    assert process.is_leader


def test_on_stop_the_lease_is_given_up_and_the_next_one_need_not_wait(scene: Scene) -> None:
    """As client-go does it: no holder, a duration of one second; the other leads with its next look."""
    first, second = leading(scene), scene.process("b")
    scene.run(5, first, second)
    first.stop()
    assert not first.is_leader
    assert "stopping" in (first.fence() or "")
    assert scene.lease.record is not None
    assert (scene.lease.record.holder, scene.lease.record.duration_seconds) == ("", 1)
    assert scene.led("a")[-1] == (False, "")
    scene.run(RULES.retry_period, second)
    assert second.is_leader
    assert first.step() >= 0
    assert not first.is_leader, "what has stopped never leads again"


def test_who_does_not_lead_gives_up_nothing(scene: Scene) -> None:
    """The leader's lease stays as it is when another instance stops."""
    first, second = leading(scene), scene.process("b")
    scene.run(5, first, second)
    before = scene.lease.record
    second.stop()
    assert scene.lease.record == before


def test_a_lease_that_cannot_be_given_up_runs_out(scene: Scene) -> None:
    """Stopping never fails; that others have to wait is told."""
    process = leading(scene)
    scene.lease.fault = "before"
    process.stop()
    assert not process.is_leader
    assert any("not given up" in told.message for told in scene.heard["a"] if isinstance(told, Fault))


def test_a_renewal_whose_answer_was_lost_is_no_reason_to_lose_the_lease(scene: Scene) -> None:
    """The write took effect: it names us, and we may have made it."""
    process = leading(scene)
    scene.lease.fault = "after"
    scene.time += process.step()
    process.step()
    assert process.is_leader
    assert scene.led("a")[-1] == (True, "a")


def test_a_release_after_a_lost_answer_still_takes_effect(scene: Scene) -> None:
    """What stands in the lease is ours by another version than we know."""
    process = leading(scene)
    scene.lease.fault = "after"
    process.step()
    process.stop()
    assert scene.lease.record is not None
    assert scene.lease.record.is_released


def test_another_name_in_the_lease_ends_it_with_the_next_step(scene: Scene) -> None:
    """A person has written it: nobody leads until the whole duration has passed."""
    process = leading(scene)
    scene.lease.put(LeaseRecord("a person", 15))
    process.step()
    assert not process.is_leader
    assert scene.reasons("a")[-1] == "the lease names a person now"
    assert process.holder == "a person"


def test_an_emptied_lease_is_not_a_released_one(scene: Scene) -> None:
    """The leader may not have noticed; the other waits as for any change."""
    first, second = leading(scene), scene.process("b")
    second.step()
    assert scene.lease.record is not None
    scene.lease.put(scene.lease.record._replace(holder=""))
    emptied = scene.time
    scene.run(RULES.lease_duration - 0.1, second)
    assert not second.is_leader
    scene.run(RULES.retry_period, second)
    assert second.is_leader
    assert scene.time - emptied >= RULES.lease_duration
    assert not first.is_leader


def test_a_deleted_lease_is_made_again_by_the_leader_and_by_nobody_else(scene: Scene) -> None:
    """The other writes one without a holder and waits; the leader's next renewal takes it."""
    first, second = leading(scene), scene.process("b")
    second.step()
    scene.lease.put(None)
    second.step()
    assert not second.is_leader
    assert scene.lease.record == LeaseRecord("", 15)
    first.step()
    assert first.is_leader
    assert scene.lease.record is not None
    assert scene.lease.record.holder == "a"
    scene.run(60, first, second)
    assert (first.is_leader, second.is_leader) == (True, False)


def test_who_was_away_does_not_mistake_one_absence_for_another(scene: Scene) -> None:
    """No lease at first and none now: in between another has made one and leads, and it was deleted."""
    first, second = scene.process("a"), scene.process("b")

    def away() -> None:
        scene.time += 16
        scene.lease.put(LeaseRecord("a", 15))
        scene.lease.put(None)

    scene.lease.before = away
    second.step()
    scene.lease.before = lambda: None
    second.step()
    assert not second.is_leader
    scene.run(14.9, second)
    assert not second.is_leader
    del first


def test_our_name_that_somebody_else_wrote_makes_no_leader(scene: Scene) -> None:
    """A person writes the name of one instance over that of the leader, which may still be at work."""
    first, second = leading(scene), scene.process("b")
    second.step()
    scene.lease.put(LeaseRecord("b", 15))
    second.step()
    assert not second.is_leader
    assert first.is_leader, "until its own next step"
    first.step()
    assert not first.is_leader
    scene.run(16, second)
    assert second.is_leader


def test_a_note_on_the_lease_changes_nothing(scene: Scene) -> None:
    """Somebody labels it: the version is another one, the record the same; the leader goes on without a gap."""
    process = leading(scene)
    scene.lease.version += 1
    process.step()
    assert process.is_leader
    assert scene.led("a")[-1] == (True, "a")


@pytest.mark.parametrize("jump", [-3600.0, 3600.0, 1e8])
def test_a_jump_of_the_clock_changes_nothing(scene: Scene, jump: float) -> None:
    """Neither for the leader nor for those who wait."""
    first, second = leading(scene), scene.process("b")
    scene.run(10, first, second)
    scene.clocks["a"].offset += jump
    scene.clocks["b"].offset -= jump
    scene.run(60, first, second)
    assert (first.is_leader, second.is_leader) == (True, False)
    assert scene.led("b") == [(False, "a")]


def test_a_clock_that_stands_still_does_not_hide_renewals(scene: Scene) -> None:
    """Each renewal writes another time, else an API server would not even give it a version."""

    class Frozen(OwnClock):
        def now(self) -> float:
            return 1_700_000_000.0

    first = Leadership(scene.lease, RULES, Frozen(lambda: scene.time), "a")
    second = scene.process("b")
    scene.run(16, first)
    scene.run(60, first, second)
    assert (first.is_leader, second.is_leader) == (True, False)


def test_a_restarted_process_is_another_one(scene: Scene) -> None:
    """After a kill it waits for its own former lease like everybody."""
    leading(scene, "host_1_abc")
    again = scene.process("host_1_def")
    scene.run(14.9, again)
    assert not again.is_leader
    scene.run(2, again)
    assert again.is_leader


def test_of_two_that_try_at_once_one_succeeds(scene: Scene) -> None:
    """The other sees whose it is, and waits."""
    first, second = scene.process("a"), scene.process("b")
    scene.run(60, first, second)
    assert first.is_leader != second.is_leader


def test_a_store_that_never_agrees_is_not_asked_all_the_time(scene: Scene) -> None:
    """A server that refuses each write as too late gets no more requests than any other."""

    class Stubborn(FakeLease):
        def create(self, record: LeaseRecord) -> Any:
            self.requests.append("create")

    scene.lease = Stubborn()
    scene.run(60, scene.process("a"))
    assert len(scene.lease.requests) < 200


def test_the_thread_keeps_it_up_and_ends_with_stop() -> None:
    """With the real clock: started, it leads soon; stopped, the lease is free and the thread is gone."""
    import threading
    import time

    from rescheduler.adapters.clock import SystemClock

    lease = FakeLease()
    lease.put(LeaseRecord("", 1))
    told = threading.Event()
    process = Leadership(lease, RULES, SystemClock(), "a", lambda _: told.set())
    process.start()
    assert told.wait(30)
    until = time.monotonic() + 30
    while not process.is_leader and time.monotonic() < until:
        time.sleep(0.01)
    assert process.is_leader
    process.stop()
    assert lease.record is not None
    assert lease.record.is_released
    assert "leadership" not in {thread.name for thread in threading.enumerate()}


def test_a_fault_of_our_own_does_not_end_the_thread() -> None:
    """It is told, and the next step is made: without it nobody would ever lead again."""
    import threading

    from rescheduler.adapters.clock import SystemClock

    class Broken(FakeLease):
        def read(self) -> Any:
            raise ZeroDivisionError("by accident")

    heard: list[Notice] = []
    told = threading.Event()

    def hear(notice: Notice) -> None:
        heard.append(notice)
        told.set()

    process = Leadership(Broken(), RULES, SystemClock(), "a", hear)
    process.start()
    assert told.wait(30)
    process.stop()
    assert [fault.message for fault in heard if isinstance(fault, Fault)][:1] == ["ZeroDivisionError: by accident"]


def test_without_election_everybody_leads_until_he_stops() -> None:
    """The same questions, without a lease."""
    alone = NoElection()
    alone.start()
    assert alone.is_leader
    assert alone.fence() is None
    alone.stop()
    assert not alone.is_leader
    assert alone.fence() is not None
