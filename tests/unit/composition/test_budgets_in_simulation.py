"""Rates and windows hold over several cycles of a simulation, whose ledger remembers."""

from __future__ import annotations

from typing import Any

from rescheduler.composition.simulating import SimulationReport, simulate
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import policy


def world() -> Cluster:
    """Six nodes with two pods each of one workload: three nodes would do for all of them."""
    nodes = [node(f"n{number}", cpu="6") for number in range(6)]
    pods = [pod(f"web-{number:02d}", node=f"n{number // 2}") for number in range(12)]
    return cluster(*nodes, *pods, workload("web", 12), taken_at=NOW)


def carried_out(*budgets: dict[str, Any], cycles: int = 4) -> SimulationReport:
    """Several cycles of emptying nodes under these budgets."""
    wanted = policy(
        objectives=[{"name": "EmptyNodes"}],
        disruption={"workloads": {"maxUnavailable": 6}, "budgets": list(budgets)},
        limits={"deadline": "3s"},
    )
    return simulate(world(), wanted, selection=Selection(), cycles=cycles)


def evictions(report: SimulationReport) -> list[int]:
    """How many pods went in each cycle."""
    return [sum(move.outcome in ("Landed", "LandedElsewhere") for move in result.moves) for result in report.results]


def test_without_budgets_the_first_cycle_does_all() -> None:
    """Which makes the tests below worth something."""
    assert evictions(carried_out())[0] > 4


def test_a_rate_holds_over_cycles() -> None:
    """Four in an hour, and the cycles take minutes: the second finds nothing left."""
    found = evictions(carried_out({"rate": {"maxEvictions": 4, "window": "1h"}}))
    assert sum(found) == 4
    assert found[0] == 4


def test_a_budget_of_several_waves_lets_a_plan_through() -> None:
    """One at a time binds the wave, not the plan."""
    assert evictions(carried_out({"maxMoving": 1}))[0] > 4


def test_a_closed_window_moves_nothing() -> None:
    """NOW is 08:00 UTC."""
    night = {"schedule": "0 22 * * *", "duration": "8h", "timeZone": "UTC"}
    assert sum(evictions(carried_out(night))) == 0
