"""What one step of a session leaves behind: in the ledger, in the audit log, and for the steps that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger.ledger_rules import LedgerRules, LedgerSettings
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.stopping import NoRoomError, PlanStoppedError, Waiter
from rescheduler.extension_points import ClusterError, EvictionAnswer, LedgerReading
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.daemon.ledger_changes import plan_begun
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, Plan, PlanResult
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.ledger.test_full_ledger import SmallLedger
from tests.unit.execution.ledger_worlds import Audit, LossyLedger, states
from tests.unit.execution.worlds import World, fragmented, two_moves

ACCEPTED = EvictionAnswer("Accepted")
LOST = EvictionAnswer("Failed", "connection reset")
NOTHING_TOLD = PlanResult(two_moves(fragmented()).snapshot)


class KeepingAudit(Audit):
    """Keeps plans too."""

    def __init__(self, room: int = 100) -> None:
        super().__init__(room)
        self.plans: dict[int, Plan] = {}

    def keep_plan(self, number: int, plan: Plan) -> None:
        """By its number."""
        self.plans[number] = plan


class Scene:
    """A session of the plan that moves web-00 and web-01, on a ledger of which every call is answered at once."""

    def __init__(
        self,
        make: Callable[[Any], SimulatedLedger] = lambda clock: SimulatedLedger(clock, call_seconds=0.0),
        audit_room: int = 100,
    ) -> None:
        self.world = World(fragmented())
        self.clock = self.world.clock
        self.ledger = make(self.clock)
        self.audit = KeepingAudit(audit_room)
        settings = LedgerSettings(self.ledger, self.audit, lambda: None, LedgerRules())
        fresh = FreshCluster(self.world, self.clock, lambda seen: seen)
        fresh.read()
        self.session = LedgerSession(settings, self.world, fresh, Waiter(self.clock, 600.0), self.clock)
        self.plan = two_moves(fragmented())
        self.first, self.second = self.plan.moves

    def announce(self, move: Move) -> str | None:
        """Write the intent, with a gate that has nothing against it."""
        return self.session.announce(move, self.world.pod(move.pod.name), lambda: None)

    def answer(self, move: Move, answer: EvictionAnswer = ACCEPTED) -> None:
        """Announce, and be answered."""
        assert self.announce(move) is None
        assert self.session.last_look(move) is None
        self.session.answered(move, answer)

    def close(self) -> str | None:
        """With nothing more to tell."""
        return self.session.close(NOTHING_TOLD)

    @property
    def entry(self) -> LedgerEntry:
        """The only one of the ledger, after all is told."""
        self.close()
        [found] = self.ledger.ledger.entries
        return found


def begun(*given: Any, **named: Any) -> Scene:
    """A scene whose plan has its number."""
    scene = Scene(*given, **named)
    scene.session.begin(scene.plan)
    return scene


def holding(*entries: LedgerEntry) -> Callable[[Any], SimulatedLedger]:
    """A ledger with these entries."""
    return lambda clock: SimulatedLedger(clock, ledger_of(*entries), call_seconds=0.0)


def test_the_plan_that_begins_is_kept_under_its_number() -> None:
    """So that people can go on with it by that number."""
    scene = begun()
    assert scene.audit.plans == {1: scene.plan}


def test_a_mark_that_stands_stops_a_plan_before_it_takes_its_number() -> None:
    """It stops no other plan on its way to its own end; nothing is written."""
    scene = Scene()
    scene.ledger.stop = "maintenance"
    with pytest.raises(PlanStoppedError, match="maintenance"):
        scene.session.begin(scene.plan)
    assert (scene.ledger.writes, scene.audit.plans) == (0, {})


def test_a_mark_stops_a_plan_that_has_nothing_to_wait_for() -> None:
    """As soon as the ledger was read, and not only while an eviction is in doubt."""
    scene = Scene()
    scene.ledger.stop = "maintenance"
    with pytest.raises(PlanStoppedError, match="maintenance"):
        scene.session.open(scene.plan.moves)


@pytest.mark.parametrize(
    ("name", "state", "is_sent"),
    [
        ("web-00", EntryState.OPEN, True),
        ("web-01", EntryState.REPAID, True),
        ("web-00", EntryState.NOT_EVICTED, False),
        ("web-00", EntryState.REFUSED, False),
        ("web-20", EntryState.OPEN, False),
    ],
)
def test_only_pods_of_the_plan_that_may_have_gone_count_as_sent(name: str, state: EntryState, is_sent: bool) -> None:
    """Neither a refusal of one of them nor an eviction of another pod makes the plan be sorted out anew."""
    scene = begun(holding(entry(name, state=state)))
    assert scene.session.were_sent(scene.plan.moves) is is_sent


def test_a_look_at_the_ledger_finds_a_newer_plan() -> None:
    """However little there is to write."""
    scene = begun()
    scene.ledger.write(plan_begun(scene.ledger.ledger, "another"), scene.ledger.version)
    with pytest.raises(PlanStoppedError, match="plan 2 of another has begun"):
        scene.session.look()


@pytest.mark.parametrize("seconds", [10.0, 10.5])
def test_an_intent_that_is_ten_seconds_old_is_sent_and_an_older_one_is_not(seconds: float) -> None:
    """Who reads it later counts on that."""
    scene = begun()
    scene.clock.sleep(2.0 - scene.clock.monotonic())
    assert scene.announce(scene.first) is None
    scene.clock.sleep(seconds)
    said = scene.session.last_look(scene.first)
    assert (said is None) is (seconds == 10.0)


@pytest.mark.parametrize("is_full", [False, True])
def test_what_was_not_announced_is_not_in_the_audit_log(is_full: bool) -> None:
    """Somebody else has sent the pod, or the ledger has no room: no line tells of an eviction that never was."""
    mine = entry("web-00", number=4)
    scene = begun(holding(mine) if not is_full else lambda clock: SmallLedger(clock, 0))
    if is_full:
        with pytest.raises(PlanStoppedError, match="the ledger is full"):
            scene.announce(scene.first)
    else:
        assert "was sent for eviction by plan" in (scene.announce(scene.first) or "")
    scene.close()
    assert scene.audit.lines == []


class Garbled(SimulatedLedger):
    """Can be read no more once somebody has edited it."""

    is_garbled = False

    def read(self) -> LedgerReading:
        """Unless it is garbled."""
        if self.is_garbled:
            raise ClusterError("no ledger that can be read")
        return super().read()


def mark(ledger: Garbled) -> None:
    """The kill switch."""
    ledger.stop = "maintenance"


def begin_another(ledger: Garbled) -> None:
    """Somebody else takes the next number."""
    ledger.write(plan_begun(ledger.ledger, "another"), ledger.version)


def garble(ledger: Garbled) -> None:
    """Somebody edits it by hand."""
    ledger.stop, ledger.is_garbled = None, True


@pytest.mark.parametrize(
    ("change", "says"), [(mark, "maintenance"), (begin_another, "another has begun"), (garble, "can be read")]
)
def test_an_intent_that_was_stopped_before_it_was_written_is_not_in_the_audit_log(
    change: Callable[[Garbled], None], says: str
) -> None:
    """It would stand there for an eviction that nobody has sent, and that nothing ever closes."""
    scene = begun(lambda clock: Garbled(clock, call_seconds=0.0))
    assert isinstance(scene.ledger, Garbled)
    change(scene.ledger)
    with pytest.raises((PlanStoppedError, ClusterError), match=says):
        scene.announce(scene.first)
    scene.close()
    assert scene.audit.lines == []


def test_an_intent_whose_writing_was_not_answered_is_in_the_audit_log() -> None:
    """It may stand in the ledger, where it would count as sent."""
    scene = begun(lambda clock: LossyLedger(clock, [None, *["before"] * 8, None]))
    with pytest.raises(ClusterError, match="the answer was lost"):
        scene.announce(scene.first)
    scene.close()
    assert [line.state for line in scene.audit.lines] == [EntryState.INTENDED]


def test_a_lasting_refusal_is_remembered_and_told_once() -> None:
    """A later try that meets it again adds nothing."""
    scene = begun()
    forbidden = EvictionAnswer("Forbidden", "denied by a webhook")
    for _ in range(2):
        scene.session.refused(scene.first, scene.world.pod("web-00"), forbidden)
        scene.clock.sleep(1.0)
    assert states(scene.ledger.ledger) == [EntryState.REFUSED]
    assert [line.message for line in scene.audit.lines] == ["denied by a webhook"]


def test_an_eviction_that_took_effect_after_all_is_in_doubt_no_more() -> None:
    """Its answer was lost, and the pod was seen to leave: a debt like any other."""
    scene = begun()
    scene.answer(scene.first, LOST)
    scene.session.left(scene.first)
    found = scene.entry
    assert (found.state, found.is_in_doubt, found.message) == (EntryState.OPEN, False, "")


def test_news_of_a_pod_that_was_never_announced_changes_nothing() -> None:
    """Whatever is said of it."""
    scene = begun()
    pod = scene.first
    scene.session.left(pod)
    scene.session.undone(pod, "why")
    scene.session.surged(pod, "n1")
    scene.session.is_moved_by_owner(pod)
    scene.session.failed(pod, "why")
    scene.session.not_sent(pod, "why")
    scene.session.answered(pod, ACCEPTED)
    assert scene.close() is None
    assert scene.ledger.ledger.entries == ()
    assert scene.audit.lines == []


def test_an_eviction_cannot_be_undone() -> None:
    """Only a pod that was taken out of its ReplicaSet is given back; one that was evicted stays owed."""
    scene = begun()
    scene.answer(scene.first)
    scene.session.undone(scene.first, "given back")
    assert scene.entry.state is EntryState.OPEN


@pytest.mark.parametrize("is_undone", [False, True])
def test_the_end_of_a_surge_is_told_to_the_millisecond(is_undone: bool) -> None:
    """Finer than any clock of a cluster is, a time would only take room."""
    scene = begun()
    surge = structs.replace(scene.first, method=MoveMethod.SURGE)
    assert scene.announce(surge) is None
    scene.clock.sleep(1.23456789)
    if is_undone:
        scene.session.undone(surge, "given back")
    else:
        scene.session.surged(surge, "n1")
    found = scene.entry
    assert found.state is (EntryState.NOT_EVICTED if is_undone else EntryState.REPAID)
    assert found.ended_at == found.closed_at == round(scene.clock.now(), 3)


def test_an_answer_is_told_to_the_millisecond() -> None:
    """As its announcement is."""
    scene = begun()
    scene.clock.sleep(1.23456789)
    scene.answer(scene.first)
    found = scene.entry
    assert found.at == found.ended_at == round(scene.clock.now(), 3)


def test_pods_whose_replacements_work_are_known_to_whoever_plans_the_rest() -> None:
    """They count no more against what may be under way."""
    scene = begun()
    scene.answer(scene.first)
    assert scene.session.ready == frozenset()
    scene.session.landed({}, [scene.first.pod])
    assert scene.session.ready == {scene.first.pod}


def test_a_ledger_with_room_is_not_waited_for() -> None:
    """Open evictions of the plan are no reason; only after one was refused for want of room."""
    scene = begun()
    scene.answer(scene.first)
    before = scene.clock.monotonic()
    scene.session.await_room()
    assert scene.clock.monotonic() == before


def test_a_ledger_that_was_full_is_waited_for_once() -> None:
    """Until half of the plan's evictions are over; then the next one is announced, and nothing is waited for."""
    scene = begun(lambda clock: SmallLedger(clock, 1))
    pod = scene.first.pod
    scene.answer(scene.first, scene.world.evict(pod, scene.world.pod(pod.name).resource_version, dry_run=False))
    with pytest.raises(NoRoomError):
        scene.announce(scene.second)
    scene.session.await_room()
    scene.answer(scene.second)
    assert len(scene.ledger.ledger.debts) == 1
    before = scene.clock.monotonic()
    scene.session.await_room()
    assert scene.clock.monotonic() == before


def test_a_full_disk_at_the_end_is_told_and_the_ledger_has_everything() -> None:
    """What this machine cannot write down stands in the cluster all the same."""
    scene = begun(audit_room=1)
    scene.answer(scene.first)
    assert "no space left on device" in (scene.close() or "")
    assert states(scene.ledger.ledger) == [EntryState.OPEN]


def test_what_is_told_at_the_end_is_written_again_where_a_write_was_lost() -> None:
    """The last one of a plan: nobody would tell it later."""
    scene = begun(lambda clock: LossyLedger(clock, [None, None, "before"]))
    scene.answer(scene.first)
    assert scene.close() is None
    assert states(scene.ledger.ledger) == [EntryState.OPEN]
