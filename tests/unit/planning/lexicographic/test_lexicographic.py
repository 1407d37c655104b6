"""Objectives that budgets hold back say which; those that have all that they want say nothing of them."""

from __future__ import annotations

from typing import Any

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.plan.plan import ObjectiveResult, Status
from tests.builders import NOW, cluster, node, pod, workload
from tests.clocks import FakeClock
from tests.unit.disruption.cases import policy

NIGHT = {"name": "night", "schedule": "0 22 * * *", "duration": "8h", "timeZone": "UTC"}


def told(objective: str, *budgets: dict[str, Any], pending: str = "3") -> ObjectiveResult:
    """What an objective says: two nodes of four cores with three pods of one core each, one empty node of three."""
    nodes = [node("n0", cpu="4"), node("n1", cpu="4"), node("n2", cpu="3")]
    pods = [pod(f"web-{number}", node=f"n{number % 2}") for number in range(6)]
    waiting = [pod("big-1", cpu=pending)] if objective == "MakeRoom" else []
    wanted = policy(
        objectives=[{"name": objective}],
        disruption={"workloads": {"maxUnavailable": 6}, "budgets": list(budgets)},
        limits={"deadline": "3s"},
    )
    world = cluster(*nodes, *pods, *waiting, workload("web", 6), taken_at=NOW)
    (found,) = make_plan(world, wanted, CycleOptions(FakeClock())).objectives
    return found


def test_a_closed_window_is_named_with_its_next_opening() -> None:
    """Nobody has to guess why nothing moves."""
    found = told("MakeRoom", NIGHT, pending="4")
    assert found.helped == 0
    assert found.message.endswith(
        "6 pods stay because of budget night, which is outside of its windows; it opens at 2027-01-15 22:00 UTC"
    )


def test_a_rate_over_all_pods_is_named_as_the_limit_that_binds() -> None:
    """With its numbers, where the policy's own limit would be named."""
    slow = {"name": "slow", "rate": {"maxEvictions": 1, "window": "1h"}}
    found = told("MakeRoom", slow, pending="4")
    assert found.helped == 0
    assert "budget slow (0 of 1 evictions in 1h are used) (1) binds: 3 evictions would help 1 of 1" in found.message
    assert "limits.maxEvictions" not in found.message


def test_who_is_helped_anyway_hears_nothing_of_budgets() -> None:
    """The pending pod fits, window or no window."""
    found = told("MakeRoom", NIGHT)
    assert (found.helped, "budget" in found.message) == (1, False)


def test_an_objective_without_pending_pods_names_the_budget_too() -> None:
    """Whatever their own words for limits are."""
    assert "budget night, which is outside of its windows" in told("EmptyNodes", NIGHT).message


def test_an_objective_with_nothing_to_repair_hears_nothing_of_budgets() -> None:
    """No violation, no wish."""
    assert "budget" not in told("FaultDomains", NIGHT).message


def test_where_deciding_takes_all_the_time_nothing_is_planned_and_nothing_claimed() -> None:
    """UNKNOWN at once, without a value; the same cluster is planned for when there is time."""
    world = cluster(
        node("n0", cpu="4"), node("n1", cpu="4"), pod("a", node="n0"), pod("b", node="n1"), pod("c", cpu="9")
    )
    wanted = policy(
        objectives=[{"name": "MakeRoom"}, {"name": "EmptyNodes"}, {"name": "FaultDomains"}], limits={"deadline": "3s"}
    )
    clock = FakeClock()

    def decided_slowly(text: str) -> None:
        clock.time += 5.0 if text == "deciding what may move" else 0.0

    room, *others = make_plan(world, wanted, CycleOptions(clock, progress=decided_slowly)).objectives
    assert (room.status, room.value, room.bound, room.helped, room.wanted) == (Status.UNKNOWN, 0, None, 0, 1)
    assert [(found.status, found.value, found.bound, found.gap) for found in others] == 2 * [
        (Status.UNKNOWN, None, None, None)
    ]
    assert all("the deadline was over" in found.message for found in (room, *others))
    assert all(found.value is not None for found in make_plan(world, wanted, CycleOptions(FakeClock())).objectives)
