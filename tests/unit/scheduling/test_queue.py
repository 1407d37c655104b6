"""Pending pods are placed in queue order, each counting for the next."""

from __future__ import annotations

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.scheduling.queue import queue_order, schedule_pending
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import NOW, cluster, node, pod, selector


def test_higher_priority_goes_first_then_age_then_name() -> None:
    """Only pods that wait; gated ones keep their place in the list."""
    world = cluster(
        pod("d", created_at=NOW - 10),
        pod("b", created_at=NOW - 10),
        pod("c", created_at=NOW - 99),
        pod("a", created_at=NOW - 5, priority=7, scheduling_gates=("g",)),
        pod("running", node="n1", priority=99),
        pod("done", phase="Succeeded"),
        node("n1"),
    )
    assert [world.pods[number].name for number in queue_order(world)] == ["a", "c", "b", "d"]


def test_each_pod_counts_for_those_after_it() -> None:
    """The last finds no room, and says so."""
    world = cluster(node("n1", cpu="1"), node("n2", cpu="1"), *(pod(f"p-{number}", "1") for number in range(3)))
    columns = columns_of(world)
    placement = Placement(columns)
    found = schedule_pending(SchedulerModel(columns), placement)
    assert [scheduled.node for scheduled in found] == [0, 1, NOWHERE]
    assert [scheduled.best.tolist() for scheduled in found] == [[0, 1], [1], []]
    assert found[2].reasons == {"Insufficient cpu": 2}
    assert placement.node_of.tolist() == [0, 1, -1]


def test_company_that_came_before_attracts_those_after() -> None:
    """Affinity sees assumed pods."""
    leader = pod("leader", "4", priority=5)
    follower = pod("follower", affinity=(PodAffinityTerm("kubernetes.io/hostname", selector(app="leader")),))
    columns = columns_of(cluster(node("n1", cpu="2"), node("n2", cpu="8"), leader, follower))
    found = schedule_pending(SchedulerModel(columns), Placement(columns))
    assert [scheduled.node for scheduled in found] == [1, 1]


def test_an_order_of_ones_own_may_be_given() -> None:
    """And pods that are left out wait."""
    columns = columns_of(cluster(node("n1", cpu="1"), pod("a-1", "1"), pod("b-1", "1")))
    (only,) = schedule_pending(SchedulerModel(columns), Placement(columns), [1])
    assert (only.pod, only.node) == (1, 0)


def test_pods_that_are_not_decided_on_are_listed_with_the_reason() -> None:
    """Gated, of an unconfigured scheduler, or with a predicate that is not modelled."""
    world = cluster(
        node("n1"),
        pod("a", scheduling_gates=("g", "h")),
        pod("b", scheduler_name="volcano"),
        pod("c", unmodelled=("DynamicResources",)),
    )
    columns = columns_of(world)
    found = schedule_pending(SchedulerModel(columns), Placement(columns))
    assert [scheduled.warnings for scheduled in found] == [
        ("gated by g, h",),
        ('scheduler "volcano" is not configured',),
        ("DynamicResources: not modelled",),
    ]
    assert {scheduled.node for scheduled in found} == {NOWHERE}
    assert not any(scheduled.best.size or scheduled.reasons for scheduled in found)
