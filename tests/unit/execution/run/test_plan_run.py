"""A plan that is to end, because we are to stop or do not lead any more: at once, with nothing left behind."""

from __future__ import annotations

from typing import Any

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.extension_points import EvictionAnswer, NotSentError
from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.model.plan.plan import PlanResult, PodReference
from tests.unit.execution.worlds import AllowAll, World, chain, chained, fragmented, outcomes, plan_of, two_moves


def run(world: World, plan: Any, ledger: SimulatedLedger | None = None, gate: Any = None, **given: Any) -> PlanResult:
    """Carry a plan out."""
    executor = Executor(
        world, gate or AllowAll(), world.clock, hold=HoldSettings(60.0, "rescheduler-holds"), guidance="Hold",
        timeout_seconds=600.0, proof=lambda _cluster, _plan: (), ledger=ledger, **given,
    )  # fmt: skip
    return executor.carry_out(plan)


class Fenced(World):
    """Refuses every write once ``is_fenced``, as the connection of one who does not lead does."""

    is_fenced = False

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Not sent where it is fenced."""
        self.refuse()
        return super().evict(pod, resource_version, dry_run=dry_run)

    def release(self, names: Any) -> None:
        """The same for placeholders."""
        self.refuse()
        super().release(names)

    def refuse(self) -> None:
        """Raise if fenced."""
        if self.is_fenced:
            raise NotSentError("was not sent: this instance does not lead, b does")


INTENT = 2
"""The second write of a plan: the first takes its number."""


class FencedLedger(SimulatedLedger):
    """The ledger as the same process writes it, fenced right before the first intent."""

    def __init__(self, world: Fenced) -> None:
        super().__init__(world.clock)
        self._world = world
        self.tries = 0

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Not sent where it is fenced."""
        self.tries += 1
        self._world.is_fenced = self._world.is_fenced or self.tries == INTENT
        self._world.refuse()
        return super().write(ledger, version)


class LastWrite(FencedLedger):
    """The intent is written just before."""

    def write(self, ledger: Ledger, version: str) -> str | None:
        """What comes later is written all the same, by whoever writes the ledger then."""
        self.tries += 1
        written = SimulatedLedger.write(self, ledger, version)
        self._world.is_fenced = self.tries == INTENT
        return written


def test_asked_to_stop_it_does_not_wait_for_replacements() -> None:
    """The eviction in flight is done, its replacement takes an hour; the plan ends within a second, its holds go."""
    world = World(fragmented(), startup_seconds=3600.0)
    stopped_at: list[float] = []

    def ending() -> str | None:
        if world.evicted and not stopped_at:
            stopped_at.append(world.clock.monotonic())
        return "asked to stop (SIGTERM)" if stopped_at else None

    result = run(world, two_moves(world.read()), ending=ending)
    assert "asked to stop (SIGTERM)" in result.message
    assert len(world.evicted) == 1
    assert world.clock.monotonic() - stopped_at[0] < 2
    assert world.leftovers() == []
    assert set(outcomes(result)) == {"web-00", "web-01", "big-0"}
    assert outcomes(result)["web-01"][0] == "NotAttempted"


def test_it_does_not_wait_between_waves_either() -> None:
    """Told so while the first wave gets ready, nothing of the second wave is sent."""
    world = World(chained(), startup_seconds=300.0)
    result = run(world, chain(world.read()), ending=lambda: "told to" if world.clock.monotonic() > 60 else None)
    assert world.evicted == ["little-0"]
    assert "stopped: told to" in result.message
    assert world.clock.monotonic() < 70
    assert world.leftovers() == []


def test_an_eviction_that_was_held_back_is_known_not_to_have_happened() -> None:
    """The last of all looks is the connection's: the pod is not in doubt, and the plan says whose fault it is."""
    world = Fenced(fragmented())
    ledger = LastWrite(world)
    result = run(world, two_moves(world.read()), ledger)
    assert world.evicted == []
    assert "does not lead, b does" in result.message
    assert "the cluster failed us" not in result.message
    assert "Unknown" not in {outcome for outcome, _ in outcomes(result).values()}
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.NOT_EVICTED]


def test_a_ledger_that_may_not_be_written_is_not_tried_again_and_again() -> None:
    """Refused by ourselves it would be refused each time; what stays behind for a while is told."""
    world = Fenced(fragmented())
    ledger = FencedLedger(world)
    before = world.clock.monotonic()
    result = run(world, two_moves(world.read()), ledger)
    assert world.evicted == []
    assert ledger.tries == 2, "the number of the plan, and one intent"
    assert world.clock.monotonic() - before < 5
    assert any("placeholders could not be removed" in warning for warning in result.warnings)


def test_pods_that_move_together_are_not_parted_by_a_refusal() -> None:
    """The gate says no to one of a group before anybody of it was sent; a pod that is of none goes."""
    world = World(fragmented())
    plan = plan_of(world.read(), [(f"web-0{i}", f"n{i + 1}", 1) for i in range(3)], objective="SpreadLoad")
    numbers = [number for number, pod in enumerate(world.read().pods) if pod.name in ("web-00", "web-01")]
    result = run(world, plan, gate=AllowAll(["web-01"]), together=lambda _: [numbers])
    assert world.evicted == ["web-02"]
    assert {move.pod.name: move.outcome.value for move in result.moves if move.pod.name != "web-02"} == {
        "web-00": "NotAttempted", "web-01": "Refused",
    }  # fmt: skip
