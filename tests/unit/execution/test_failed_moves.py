"""Moves whose replacements do not work: the plan stops at once, says why, and the ledger remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, Plan, PlanResult, PodReference
from tests.builders import NOW, pod
from tests.unit.execution.worlds import AllowAll, World, fragmented, outcomes, plan_of


def on(node: str, why: str) -> Callable[[Pod], str]:
    """Trouble for every pod that comes to one node."""
    return lambda found: why if found.node_name == node and found.created_at != NOW - 86400 else ""


def carried_out(world: World, plan: Plan, store: SimulatedLedger | None = None) -> PlanResult:
    """A plan carried out with a ledger."""
    return Executor(
        world,
        AllowAll(),
        world.clock,
        hold=HoldSettings(60.0, "rescheduler-holds"),
        guidance="Hold",
        timeout_seconds=600.0,
        proof=lambda *_: (),
        ledger=store,
    ).carry_out(plan)


def two_waves(world: World) -> Plan:
    """One pod to n1, and then another to n2."""
    return plan_of(world.read(), [("web-00", "n1", 1), ("web-01", "n2", 2)], [("big-0", "n0", 2)])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"refuses": on("n1", "OutOfcpu")}, "was refused by node n1: OutOfcpu"),
        ({"refuses": on("n1", "UnexpectedAdmissionError")}, "was refused by node n1: UnexpectedAdmissionError"),
        ({"troubles": on("n1", "ImagePullBackOff")}, "cannot run on n1: ImagePullBackOff"),
        ({"troubles": on("n1", "CrashLoopBackOff")}, "cannot run on n1: CrashLoopBackOff"),
        ({"troubles": on("n1", "CreateContainerConfigError")}, "cannot run on n1: CreateContainerConfigError"),
    ],
)
def test_a_replacement_that_cannot_work_stops_the_plan_at_once(settings: dict[str, Any], said: str) -> None:
    """The second wave never starts, nobody waits for the plan's time to run out, nothing is left behind."""
    world = World(fragmented(), **settings)
    began = world.clock.monotonic()
    result = carried_out(world, two_waves(world))
    assert world.evicted == ["web-00"]
    assert said in result.message
    assert "nothing further is moved" in result.message
    assert world.clock.monotonic() - began < 60
    kinds = {name: kind for name, (kind, _) in outcomes(result).items()}
    assert kinds["web-00"] == "Unknown"
    assert kinds["web-01"] == "NotAttempted"
    assert said in next(move.message for move in result.moves if move.pod.name == "web-00")
    assert world.leftovers() == []


def test_the_ledger_remembers_a_failed_move() -> None:
    """It stays a debt, since nothing has replaced the pod, and carries what was wrong."""
    world = World(fragmented(), troubles=on("n1", "ImagePullBackOff"))
    store = SimulatedLedger(world.clock)
    carried_out(world, two_waves(world), store)
    (entry,) = store.read().ledger.entries
    assert (entry.pod.name, entry.state, entry.landed_on) == ("web-00", EntryState.OPEN, "n1")
    assert "cannot run on n1: ImagePullBackOff" in entry.failure


def test_others_of_the_same_wave_are_told_as_they_are() -> None:
    """One failed, one landed."""
    world = World(fragmented(), troubles=on("n1", "CrashLoopBackOff"))
    plan = plan_of(world.read(), [("web-00", "n1", 1), ("web-01", "n2", 1)], [("big-0", "n0", 1)])
    result = carried_out(world, plan)
    found = outcomes(result)
    assert found["web-00"] == ("Unknown", "n1")
    assert found["web-01"][0] in ("Landed", "LandedElsewhere", "NotAttempted")


def test_a_trouble_that_passes_is_waited_for() -> None:
    """A first failure to pull an image, or a container that is being made, is no failure of the move."""
    move = Move(PodReference("default", "web-0", "u"), "n0", "n1", 1, "MakeRoom", "room")
    departure = EvictedPod(move, pod("web-0", node="n0"), None, frozenset({"u"}))
    assert departure.failure is None
    for trouble in ("", "ErrImagePull"):
        departure.replacement = pod("web-1", node="n1", is_ready=False, trouble=trouble)
        assert departure.failure is None
    departure.replacement = pod("web-1", is_ready=False, trouble="CrashLoopBackOff")
    assert departure.failure is None
    departure.replacement = pod("web-1", node="n1", is_ready=True, trouble="CrashLoopBackOff")
    assert departure.failure is None
    departure.refused = pod("web-2", node="n1", phase="Failed")
    assert departure.failure == "default/web-2 was refused by node n1: it failed at once"


def test_pods_that_had_failed_before_are_nobodys_fault() -> None:
    """Only what came after the departure counts."""
    dead = pod("web-dead", node="n1", owner="web", phase="Failed", is_ready=False, trouble="Evicted")
    world = World(fragmented(dead))
    result = carried_out(world, two_waves(world))
    assert {kind for kind, _ in outcomes(result).values()} <= {"Landed", "LandedElsewhere"}
    assert result.message == ""
