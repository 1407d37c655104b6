"""What is asked for each machine that a plan names, and where nothing is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET, structs

from rescheduler.execution.buying.orders import (
    bill_of,
    fillers_of,
    is_over,
    machines_of,
    objection,
    orders_of,
)
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement, Toleration
from rescheduler.model.objects.resources import exact_amount, offered_amount
from tests.builders import NOW, cluster, node, pod, taint, workload
from tests.unit.execution.buying.market import LABELS, POOL, TYPE, buying_plan, came, machine, world
from tests.unit.execution.worlds import plan_of


def test_a_placeholder_is_as_large_as_the_machine_and_for_its_type_alone() -> None:
    """So that no two share one, and nothing else of that pool is bought for it."""
    start = world()
    [order] = orders_of(buying_plan(start), start)
    spec = order.placeholder
    assert dict(spec.requests) == {"cpu": 3900, "memory": 4086 * 2**20}
    assert dict(spec.node_selector) == LABELS
    assert (spec.node_affinity, spec.tolerations, spec.scheduler_name) == (None, (), "default-scheduler")
    assert dict(order.room)["pods"] == 109
    assert order.before == frozenset()


def test_labels_are_those_that_nodes_of_the_cluster_carry() -> None:
    """An older name of the same thing, where that is the one in use; a part that the plan leaves open is left open."""
    beta = "beta.kubernetes.io/instance-type"
    pods = [pod(f"web-{number}", node="a") for number in range(2)]
    start = cluster(node("a", labels={beta: "big"}), *pods, workload("web", 2))
    bare = machine(capacity_type=UNSET, node_pool=UNSET, zone="z1")
    [order] = orders_of(buying_plan(start, bare), start)
    assert dict(order.placeholder.node_selector) == {beta: "small", "topology.kubernetes.io/zone": "z1"}


def test_taints_of_the_pool_that_last_are_put_up_with_and_no_others() -> None:
    """One that comes and goes keeps the placeholder off a node that is not Ready."""
    lasting, passing = taint("team", "blue"), taint("node.kubernetes.io/not-ready", effect="NoExecute")
    other = node("o", labels={POOL: "other"}, taints=[taint("gpu")])
    here = node("w", labels={POOL: "web"}, taints=[lasting, passing, taint("karpenter.sh/unregistered")])
    start = world(here, other)
    [order] = orders_of(buying_plan(start), start)
    assert order.placeholder.tolerations == (Toleration("team", "Equal", "blue", "NoSchedule"),)


def test_the_scheduler_is_that_of_a_pod_that_comes_there() -> None:
    """Another one may not see such nodes, or not be there."""
    pods = [pod(f"web-{number}", node="a", scheduler_name="volcano") for number in range(2)]
    start = cluster(node("a"), *pods, workload("web", 2))
    [order] = orders_of(buying_plan(start), start)
    assert order.placeholder.scheduler_name == "volcano"


def test_never_more_machines_than_the_plan_needs() -> None:
    """One that no move goes to is not asked for; a plan for nodes that exist asks for none."""
    start = world()
    plan = buying_plan(start, machine("added-1"), machine("added-2"), machine("added-3"))
    assert [item.name for item in machines_of(plan)] == ["added-1", "added-2"]
    assert bill_of(plan) == "2 small (spot, web)"
    assert machines_of(plan_of(start, [])) == ()
    assert bill_of(structs.replace(plan, what_if=UNSET)) == ""


def changed(start: Cluster, **fields: Any) -> Cluster:
    """The same with the first pod another way."""
    [first, *others] = start.pods
    return cluster(*start.nodes, structs.replace(first, **fields), *others, *start.workloads)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"uid": "other"}, "has left a since the plan was made; a plan that was begun goes on by `apply --resume"),
        ({"deletion_at": NOW}, "has left a"),
        ({"phase": "Succeeded"}, "has left a"),
        ({"node_name": "b"}, "is on b, the plan moves it from a"),
    ],
)
def test_a_cluster_that_has_changed_is_no_reason_to_buy(fields: dict[str, Any], why: str) -> None:
    """Each pod stands where the plan has it, or nothing is asked for."""
    start = world(node("b"))
    plan = buying_plan(start)
    assert objection(plan, start) is None
    found = objection(plan, changed(start, **fields))
    assert found is not None
    assert why in found


def test_names_of_nodes_are_taken_for_what_they_are() -> None:
    """A node called like a machine of the plan, and a destination that is neither."""
    start = world()
    plan = buying_plan(start)
    assert "there is a node added-1 by now" in str(objection(plan, world(node("added-1"))))
    elsewhere = structs.replace(plan, moves=(plan.moves[0], structs.replace(plan.moves[1], to_node="gone")))
    assert "node gone, which default/web-1 is to move to, is not there" in str(objection(elsewhere, start))


def test_a_plan_that_was_carried_out_is_over() -> None:
    """All pods have left; one that stands is enough for it not to be."""
    start = world()
    plan = buying_plan(start)
    assert not is_over(plan, start)
    assert not is_over(plan, changed(start, uid="new"))
    assert is_over(plan, cluster(*start.nodes, *start.workloads))


def test_a_node_of_the_type_that_is_empty_already_is_filled_by_a_placeholder_of_its_own() -> None:
    """Nobody makes a machine otherwise. One that came since the plan was made is the machine, of a run that was killed.

    What fills it may stand nowhere else, and is as large as what asks.
    """
    old = structs.replace(came("old"), created_at=NOW - 60)
    for start, expected in (
        (world(old), ["old"]),
        (world(old, pod("x-0", "10m", node="old")), []),
        (world(structs.replace(old, is_ready=False)), []),
        (world(structs.replace(old, is_unschedulable=True)), []),
        (world(structs.replace(old, labels={**old.labels, TYPE: "other"})), []),
        (world(came("new")), []),
        (world(structs.replace(old, created_at=None)), ["old"]),
        (world(old, structs.replace(came("older"), created_at=NOW - 90)), ["old", "older"]),
    ):
        plan = buying_plan(start, machine("added-1"), machine("added-2"))
        orders = orders_of(plan, start)
        found = fillers_of(orders, start)
        assert list(found) == expected
        for name, spec in found.items():
            assert structs.replace(spec, node_affinity=None) == orders[0].placeholder
            assert spec.node_affinity is not None
            term = NodeSelectorTerm(fields=(Requirement("metadata.name", "In", (name,)),))
            assert spec.node_affinity.required == (term,)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 3950, "3950m"),
        ("cpu", 2500, "2.5"),
        ("memory", 4086 * 2**20, "4086Mi"),
        ("memory", 15 * 2**30, "15Gi"),
        ("memory", 2**30 + 1, "1073741825"),
        ("memory", 0, "0"),
        ("pods", 110, "110"),
    ],
)
def test_amounts_of_machines_are_exact(resource: str, amount: int, text: str) -> None:
    """A placeholder that is rounded up would fit on no machine."""
    assert exact_amount(resource, amount) == text
    assert offered_amount(resource, text) == amount
