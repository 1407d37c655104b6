"""A ledger that takes no more open evictions: a plan waits for its own, and stops for those of others."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.extension_points import LedgerFullError
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import OutcomeKind, PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.ledger_worlds import Process
from tests.unit.execution.worlds import World, plan_of


class SmallLedger(SimulatedLedger):
    """Takes so many open evictions, as one does whose object may not grow."""

    def __init__(self, clock: Any, most: int) -> None:
        super().__init__(clock)
        self.most = most
        self.fullest = 0

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Refuses one more open eviction than there is room for."""
        number = len(ledger.debts)
        if number > self.most and number > len(self.ledger.debts):
            raise LedgerFullError("the ledger is full")
        self.fullest = max(self.fullest, number)
        return super().write(ledger, version)


def half_empty() -> Cluster:
    """Seven pods on seven nodes, which would all fit on the eighth."""
    pods = [pod(f"web-{n}", "1", node=f"n{n}", owner="web") for n in range(7)]
    return cluster(*(node(f"n{n}", "2") for n in range(7)), node("n7", "8"), *pods, workload("web", 7))


@pytest.mark.parametrize("most", [1, 2, 3, 6])
@pytest.mark.parametrize("guidance", ["Hold", "Predict"])
def test_a_plan_of_more_moves_than_the_ledger_takes_waits_for_its_own_to_be_over(most: int, guidance: str) -> None:
    """It ends as if there were room for all, and the ledger was never fuller than it may be."""
    start = half_empty()
    world = World(start)
    ledger = SmallLedger(world.clock, most)
    plan = plan_of(start, [(f"web-{n}", "n7", 1) for n in range(7)], objective="EmptyNodes")
    result = Process(world, ledger).apply(plan, world, guidance=guidance, timeout=3600.0)
    assert result is not None
    assert len(world.evicted) == len(set(world.evicted)) == 7
    assert {move.outcome for move in result.moves} <= {OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE}
    assert ledger.fullest == most
    assert world.leftovers() == []


def test_evictions_of_others_are_not_waited_for() -> None:
    """Nobody knows when they will be over: nothing is evicted, and the ledger says why."""
    start = half_empty()
    world = World(start)
    ledger = SmallLedger(world.clock, 1)
    theirs = LedgerEntry(
        number=1, plan=0, pod=PodReference("default", "gone", "u-gone"), from_node="n0", to_node="n7",
        at=world.clock.now(), workload="w", state=EntryState.OPEN, ended_at=world.clock.now(),
    )  # fmt: skip
    ledger.write(structs.replace(ledger.ledger, entries=(theirs,), next_entry=2), ledger.read().version)
    plan = plan_of(start, [("web-0", "n7", 1)], objective="EmptyNodes")
    result = Process(world, ledger).apply(plan, world, guidance="Predict")
    assert result is not None
    assert "the ledger is full" in result.message
    assert world.evicted == []


def test_a_plan_that_has_no_time_to_wait_says_so() -> None:
    """With what was done by then told as it is."""
    start = half_empty()
    world = World(start)
    plan = plan_of(start, [(f"web-{n}", "n7", 1) for n in range(7)], objective="EmptyNodes")
    result = Process(world, SmallLedger(world.clock, 2)).apply(plan, world, guidance="Predict", timeout=20.0)
    assert result is not None
    assert "more than the plan's time allows" in result.message
    assert len(world.evicted) == 2
    assert sum(move.outcome is OutcomeKind.NOT_ATTEMPTED for move in result.moves) == 5
