"""What grows old while an eviction is announced is asked and read again; an intent that is not sent is taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PlanResult, PodReference, Refusal
from tests.builders import pod
from tests.unit.execution.ledger_worlds import OneMoving, Process, states
from tests.unit.execution.worlds import World, fragmented, plan_of


class SlowLedger(SimulatedLedger):
    """Its first write of an intent takes ``seconds``, and then ``meanwhile`` happens."""

    def __init__(self, world: World, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> None:
        super().__init__(world.clock)
        self._world, self._seconds, self._meanwhile = world, seconds, meanwhile
        self._is_used_up = False

    def write(self, ledger: Ledger, version: str) -> str | None:
        """As told."""
        answer = super().write(ledger, version)
        if ledger.entries and not self._is_used_up:
            self._is_used_up = True
            self._world.clock.sleep(self._seconds)
            self._meanwhile()
        return answer


class Timed(OneMoving):
    """A gate that knows when it was asked, and refuses everything once ``is_shut``."""

    def __init__(self, world: World, most: int = 1) -> None:
        super().__init__(most)
        self.world, self.is_shut, self.asked_at = world, False, 0.0

    def permit(
        self, moves: Sequence[Move], cluster: Any, sent: Sequence[PodReference], ledger: Ledger = EMPTY_LEDGER
    ) -> list[Permit | Refusal]:
        """In order, as long as there is room."""
        self.asked_at = self.world.clock.monotonic()
        if self.is_shut:
            return [Refusal("Budget", "shut by now", pod=move.pod) for move in moves]
        return super().permit(moves, cluster, sent, ledger)


def verdict_ages(world: World, ledger: SimulatedLedger, gate: Timed) -> tuple[PlanResult, list[float]]:
    """A plan of one move, and how old the gate's verdict was at each eviction."""
    ages: list[float] = []

    def send(reference: PodReference, dry_run: bool) -> None:
        if not dry_run:
            ages.append(world.clock.monotonic() - gate.asked_at)

    world.script = [send] * 2
    one = plan_of(fragmented(), [("web-00", "n1", 1)])
    result = Process(world, ledger).apply(one, world, gate=gate)
    assert result is not None
    return result, ages


@pytest.mark.parametrize("seconds", [0.1, 0.7, 1.5, 6.0])
def test_no_verdict_is_older_than_a_second_when_it_is_used(seconds: float) -> None:
    """However long the intent takes to be written; the intent itself does not count against the move."""
    world = World(fragmented())
    ledger, gate = SlowLedger(world, seconds), Timed(world)
    result, ages = verdict_ages(world, ledger, gate)
    assert len(ages) == 1, result.message
    assert ages[0] <= 1.0
    assert states(ledger.ledger) == [EntryState.OPEN]


def test_a_gate_that_has_changed_its_mind_meanwhile_is_obeyed() -> None:
    """Nothing is sent, and nothing is owed."""
    world = World(fragmented())
    gate = Timed(world)
    ledger = SlowLedger(world, 1.5, lambda: setattr(gate, "is_shut", True))
    result, ages = verdict_ages(world, ledger, gate)
    assert "shut by now" in result.message
    assert ages == []
    assert states(ledger.ledger) == [EntryState.NOT_EVICTED]


def test_what_others_wrote_meanwhile_counts() -> None:
    """Their eviction takes the place that the gate had for ours."""
    world = World(fragmented())

    def others() -> None:
        reading = ledger.read()
        [ours] = reading.ledger.entries
        foreign = structs.replace(ours, pod=PodReference("default", "web-20", "uid-20"), number=2, workload="other")
        SimulatedLedger.write(
            ledger, structs.replace(reading.ledger, entries=(ours, foreign), next_entry=3), reading.version
        )

    gate, ledger = Timed(world), SlowLedger(world, 1.5, others)
    result, ages = verdict_ages(world, ledger, gate)
    assert "one pod moves at a time" in result.message
    assert ages == []
    assert [item.pod.name for item in gate.ledgers[-1].entries] == ["web-20"]


def test_a_pod_that_changes_meanwhile_is_left_alone() -> None:
    """The one that was read is not the one that would be evicted."""
    world = World(fragmented())
    ledger = SlowLedger(world, 1.5, lambda: world.put(pod("web-00", "1", "1Gi", node="n0", owner="web", uid="another")))
    result, ages = verdict_ages(world, ledger, Timed(world))
    assert "is another pod of the same name by now" in result.message
    assert ages == []
    assert states(ledger.ledger) == [EntryState.NOT_EVICTED]


def test_an_announcement_that_takes_too_long_is_taken_back() -> None:
    """After ten seconds others take an intent for one that is never sent."""
    world = World(fragmented())
    ledger = SlowLedger(world, 11.0)
    result, ages = verdict_ages(world, ledger, Timed(world))
    assert "announcing the eviction of default/web-00 took 11 s; apply again to go on" in result.message
    assert ages == []
    assert states(ledger.ledger) == [EntryState.NOT_EVICTED]


def while_announced(world: World, ledger: SimulatedLedger, act: Callable[[], None]) -> None:
    """Let something happen before each reading of a pod, or of a node's pods, once an intent is written."""
    read_pod, pods_on = world.read_pod, world.pods_on

    def first(read: Callable[..., Any], *asked: str) -> Any:
        if EntryState.INTENDED in states(ledger.ledger):
            act()
        return read(*asked)

    world.read_pod = lambda *asked: first(read_pod, *asked)  # type: ignore[method-assign]
    world.pods_on = lambda *asked: first(pods_on, *asked)  # type: ignore[method-assign]


def test_a_server_that_is_slow_each_time_is_not_waited_for() -> None:
    """Each look would be too old by its end."""
    world = World(fragmented())
    ledger = SlowLedger(world, 1.5)
    while_announced(world, ledger, lambda: world.clock.sleep(1.2))
    result, ages = verdict_ages(world, ledger, Timed(world))
    assert "took over 1 s for each look at what default/web-00 depends on" in result.message
    assert ages == []
    assert states(ledger.ledger) == [EntryState.NOT_EVICTED]


def test_a_look_that_fails_takes_the_intent_back() -> None:
    """The API server has gone after the intent was written."""
    world = World(fragmented())
    ledger = SlowLedger(world, 1.5)

    def lose() -> None:
        raise ClusterError("the connection was lost")

    while_announced(world, ledger, lose)
    result, ages = verdict_ages(world, ledger, Timed(world))
    assert "the connection was lost" in result.message
    assert ages == []
    assert states(ledger.ledger) == [EntryState.NOT_EVICTED]
