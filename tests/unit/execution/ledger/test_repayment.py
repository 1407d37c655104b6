"""Who waits for debts asks no more than it takes, ends as soon as they are over, and goes on with what still stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger.ledger_writer import LedgerWriter
from rescheduler.execution.ledger.repayment import OpenEvictions, seconds_to_repay, when_repaid
from rescheduler.execution.stopping import PlanStoppedError, Waiter
from rescheduler.extension_points import LedgerReading
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, Plan
from tests.builders import cluster, pod, workload
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.worlds import World, fragmented, plan_of, two_moves


class Counted(World):
    """Tells when it was read as a whole."""

    def __init__(self, start: Cluster) -> None:
        super().__init__(start)
        self.read_at: list[float] = []

    def read(self) -> Cluster:
        """As any."""
        self.read_at.append(self.clock.monotonic())
        return super().read()


class CountedLedger(SimulatedLedger):
    """Tells how often it was read; ``stop_after`` so many readings somebody sets the mark."""

    reads = 0
    stop_after = 1000

    def read(self) -> LedgerReading:
        """As any."""
        self.reads += 1
        self.stop = "maintenance" if self.reads > self.stop_after else None
        return super().read()


class Scene:
    """The moves of web-00 and web-01, and a ledger with entries of pods of their workload."""

    def __init__(self, *entries: LedgerEntry, timeout: float = 600.0) -> None:
        self.world = Counted(fragmented())
        self.clock = self.world.clock
        since = self.clock.now()
        moved = (structs.replace(item, at=since, ended_at=item.ended_at and since) for item in entries)
        self.ledger = CountedLedger(self.clock, ledger_of(*moved))
        self.fresh = FreshCluster(self.world, self.clock, lambda seen: seen)
        self.fresh.read()
        self.writer = LedgerWriter(self.ledger, self.clock, keep_seconds=86_400.0)
        self.waits = OpenEvictions(self.writer, self.world, self.fresh, Waiter(self.clock, timeout))
        self.plan = two_moves(fragmented())
        self.writer.read()

    def check(self) -> None:
        """Raise where the mark stands."""
        if self.writer.stop is not None:
            raise PlanStoppedError(self.writer.stop)

    @property
    def looks(self) -> list[float]:
        """Seconds between readings of the cluster."""
        times = self.world.read_at
        return [later - earlier for earlier, later in pairwise(times)]


def owed(name: str = "web-30", **fields: Any) -> LedgerEntry:
    """An eviction of a pod of web that nobody replaces: thirteen were ready, and twelve are wanted."""
    given: dict[str, Any] = {"workload": "uid-default-web", "desired": 13, "ready": 13, **fields}
    return entry(name, **given)


def doubtful(name: str) -> LedgerEntry:
    """An eviction whose answer was lost a moment ago."""
    return owed(name, state=EntryState.OPEN, is_in_doubt=True)


@pytest.mark.parametrize("is_half", [False, True])
def test_a_debt_is_looked_for_every_five_seconds(is_half: bool) -> None:
    """Each look reads the whole cluster: no more often than that, and no more seldom."""
    scene = Scene(owed(), timeout=60.0)

    def wait() -> None:
        if is_half:
            scene.waits.await_half(1, scene.check)
        else:
            scene.waits.await_repaid(lambda: scene.plan.moves)

    with pytest.raises(PlanStoppedError, match="more than the plan's time allows"):
        wait()
    assert len(scene.looks) >= 11
    assert scene.looks == pytest.approx([5.0] * len(scene.looks), abs=0.5)


def test_half_of_a_plans_evictions_is_enough() -> None:
    """One of two is over, since its workload is gone; what another plan owes does not count."""
    gone = owed("gone-0", workload="uid-default-gone", workload_key="ReplicaSet default/gone")
    scene = Scene(gone, owed("web-30"), structs.replace(owed("web-31"), plan=7))
    before = scene.clock.monotonic()
    scene.waits.await_half(1, scene.check)
    assert scene.clock.monotonic() == before


def test_more_than_half_is_waited_for() -> None:
    """As long as the plan has time."""
    scene = Scene(owed("web-30"), owed("web-31"), timeout=20.0)
    with pytest.raises(PlanStoppedError, match="more than the plan's time allows"):
        scene.waits.await_half(1, scene.check)


def test_a_mark_ends_the_wait_for_room() -> None:
    """It is read with the ledger at each look."""
    scene = Scene(owed())
    scene.ledger.stop_after = 3
    with pytest.raises(PlanStoppedError, match="maintenance"):
        scene.waits.await_half(1, scene.check)
    assert scene.ledger.reads == 4


def test_while_nobody_knows_of_an_eviction_its_pod_alone_is_asked_for() -> None:
    """Ninety seconds of it cost two readings of the ledger and of the cluster; two later it is over."""
    scene = Scene(doubtful("web-00"))
    began = scene.clock.monotonic()
    scene.ledger.reads = 0
    scene.waits.await_doubts(scene.plan.moves, scene.check)
    assert 90 < scene.clock.monotonic() - began < 92
    assert scene.ledger.reads == 2
    assert len(scene.world.read_at) == 2
    assert scene.writer.ledger.entries[0].state is EntryState.NOT_EVICTED


def test_a_pod_that_leaves_meanwhile_ends_the_doubt() -> None:
    """The eviction took effect: nobody has to wait for the end of the ninety seconds."""
    scene = Scene(doubtful("web-00"))
    began = scene.clock.monotonic()
    scene.clock.after(20.0, lambda: scene.world.delete_pod("default", "web-00"))
    scene.waits.await_doubts(scene.plan.moves, scene.check)
    assert 20 < scene.clock.monotonic() - began < 60


def test_other_pods_and_evictions_that_were_answered_are_not_waited_for() -> None:
    """Only what may yet happen to a pod that is to move next."""
    scene = Scene(doubtful("web-20"), owed("web-01"))
    began = scene.clock.monotonic()
    scene.waits.await_doubts(scene.plan.moves, scene.check)
    assert scene.clock.monotonic() - began < 1


def test_whoever_stops_the_plan_amid_a_doubt_is_heard_at_once() -> None:
    """Not ninety seconds later."""
    scene = Scene(doubtful("web-00"))
    began = scene.clock.monotonic()

    def check() -> None:
        if scene.clock.monotonic() > began + 10:
            raise PlanStoppedError("told to")

    with pytest.raises(PlanStoppedError, match="told to"):
        scene.waits.await_doubts(scene.plan.moves, check)
    assert scene.clock.monotonic() - began < 12


def test_a_mark_is_obeyed_before_anything_is_waited_for() -> None:
    """Also where nothing is in doubt."""
    scene = Scene()
    scene.ledger.stop_after = 0
    with pytest.raises(PlanStoppedError, match="maintenance"):
        scene.waits.await_doubts(scene.plan.moves, scene.check)


class Debts:
    """Owes something for so many questions; meanwhile ``meddle`` happens, and the cluster is read."""

    def __init__(self, scene: Scene, times: int) -> None:
        self.scene = scene
        self.left = times
        self.proven: list[Plan] = []

    def next_of(self, rest: Plan, _cluster: Cluster) -> Sequence[Move]:
        """All of them."""
        return rest.moves

    def await_repaid(self, _choose: Callable[[], Sequence[Move]]) -> None:
        """A wait, or none."""
        if self.left:
            self.left -= 1
            self.scene.clock.sleep(5.0)
            self.scene.fresh.read()

    def look_again(self, rest: Plan) -> Plan:
        """It stands as it is."""
        self.proven.append(rest)
        return rest

    def rest(self) -> Plan:
        """Of the scene's plan."""
        return when_repaid(self.scene.plan, self.next_of, self.await_repaid, self.scene.fresh, self.look_again)


@pytest.mark.parametrize("waits", [0, 1, 3])
def test_what_took_time_is_proven_anew_and_asked_for_anew(waits: int) -> None:
    """Until nothing has to be waited for: then the proof is of the very snapshot on which the next pod goes."""
    debts = Debts(Scene(), waits)
    assert debts.rest() == debts.scene.plan
    assert len(debts.proven) == waits


def test_a_plan_of_which_nothing_is_left_waits_for_nothing() -> None:
    """A proof may leave no move at all."""
    debts = Debts(Scene(), 5)
    empty = structs.replace(debts.scene.plan, moves=())
    found = when_repaid(debts.scene.plan, debts.next_of, debts.await_repaid, debts.scene.fresh, lambda _: empty)
    assert (found, debts.left) == (empty, 4)


def test_a_plan_takes_as_long_as_the_workload_that_loses_most() -> None:
    """One pod after the other, each when the last is repaid; what nobody knows any more takes no time."""
    start = fragmented(pod("db-0", "1", node="n3"), workload("db", 1))
    plan = plan_of(start, [("web-00", "n1", 1), ("db-0", "n2", 1), ("web-01", "n2", 2)])
    assert seconds_to_repay(plan, start) == 135.0
    assert seconds_to_repay(plan, cluster()) == 0.0


def test_only_workloads_of_the_next_pods_are_waited_for() -> None:
    """What others owe is no reason to wait."""
    scene = Scene(entry("other-0", workload="uid-default-other", workload_key="CloneSet default/other"))
    scene.world.put(pod("other-1", "1", node="n1", owner="other"))
    before = scene.clock.monotonic()
    scene.waits.await_repaid(lambda: scene.plan.moves)
    assert scene.clock.monotonic() == before
