"""Placeholders for nobody: where they stand and how large they are."""

from __future__ import annotations

from rescheduler.execution.closing import closings, empty_before, enough_to_close
from rescheduler.execution.emptied import emptied_nodes
from rescheduler.execution.holding import Hold, HoldMaker, fits, room_after, take
from rescheduler.model.cluster import Cluster
from rescheduler.model.constraints import Toleration
from rescheduler.model.plan import Plan
from tests.builders import cluster, node, pod, taint, workload
from tests.unit.execution.worlds import plan_of


def closed(plan: Plan, start: Cluster) -> list[Hold]:
    """The closings of a plan of which nothing has been done yet."""
    return closings(plan, plan, emptied_nodes(plan, plan.moves, start), start, HoldMaker(plan, start, "p", 60))


def has_room(start: Cluster, hold: Hold, name: str) -> bool:
    """Whether a pod fits on the node of a placeholder once all pods of web have left it."""
    node_name = hold.request.node
    room = room_after(start, node_name, [item for item in start.pods if item.node_name == node_name])
    take(room, hold.request.requests)
    return fits(room, start.pod_by_key[f"default/{name}"].spec.requests)


def test_a_node_that_is_emptied_is_closed_to_every_pod_of_the_plan() -> None:
    """By one placeholder, whatever they ask for: CPU, memory alone, or a device."""
    start = cluster(
        node("n0", "4", extended={"example.com/gpu": "2"}), node("n1", "16", extended={"example.com/gpu": "4"}),
        pod("big-0", "3", "1Gi", node="n0"), pod("tiny-0", "1m", "1Mi", node="n0"),
        pod("memory-0", "0", "1Gi", node="n0"), pod("gpu-0", "0", "0", node="n0", extended={"example.com/gpu": "1"}),
    )  # fmt: skip
    names = ("big-0", "tiny-0", "memory-0", "gpu-0")
    (hold,) = closed(plan_of(start, [(name, "n1", 1) for name in names], objective="EmptyNodes"), start)
    assert hold.request.node == "n0"
    assert hold.pod is None
    assert not any(has_room(start, hold, name) for name in names)


def test_equal_placeholders_close_unequal_nodes() -> None:
    """So that they can share a Job: each is as large as the largest node."""
    start = cluster(
        node("n0", "4"), node("n1", "8"), node("n2", "64", "256Gi"),
        pod("web-0", "1", node="n0"), pod("web-1", "1", node="n1"), workload("web", 2),
    )  # fmt: skip
    holds = closed(plan_of(start, [("web-0", "n2", 1), ("web-1", "n2", 1)], objective="EmptyNodes"), start)
    assert [hold.request.node for hold in holds] == ["n0", "n1"]
    assert {hold.request.requests for hold in holds} == {(("cpu", 64000), ("memory", 256 * 2**30))}


def test_a_node_that_keeps_pods_is_closed_to_those_that_left_it_and_not_to_smaller_ones() -> None:
    """What they had stays taken, and so much more that none of them fits beside what stays."""
    start = cluster(
        node("n0", "8"), node("n1", "8"),
        pod("web-0", "2", node="n0"), pod("stay-0", "1", node="n0"), pod("small-0", "500m", node="n1"),
    )  # fmt: skip
    (hold,) = closed(plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad"), start)
    assert dict(hold.request.requests)["cpu"] == 8000 - 1000 - 2000 + 1
    room = room_after(start, "n0", [start.pod_by_key["default/web-0"]])
    take(room, hold.request.requests)
    assert not fits(room, start.pod_by_key["default/web-0"].spec.requests)
    assert fits(room, start.pod_by_key["default/small-0"].spec.requests)


def test_a_node_on_which_somebody_arrives_is_not_closed_for_the_whole_plan() -> None:
    """Neither one that a move leads to nor one on which a pending pod gets its place."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(3)), pod("web-0", "2", node="n0"), pod("mid-0", "2", node="n1"),
        pod("big-0", "4"),
    )  # fmt: skip
    assert closed(plan_of(start, [("mid-0", "n2", 1), ("web-0", "n1", 2)], [("big-0", "n0", 2)]), start) == []


def test_every_scheduler_of_the_plan_is_kept_off() -> None:
    """One does not see what is nominated for another."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("web-0", "1", node="n0"),
        pod("batch-0", "1", node="n0", scheduler_name="batch-scheduler"),
    )  # fmt: skip
    holds = closed(plan_of(start, [("web-0", "n1", 1), ("batch-0", "n1", 1)], objective="EmptyNodes"), start)
    assert [hold.request.scheduler_name for hold in holds] == ["batch-scheduler", "default-scheduler"]


def test_the_closing_has_the_priority_of_the_most_important_pod_that_leaves() -> None:
    """A placeholder of a lower one would not keep it off."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("web-0", "1", node="n0"),
        pod("vip-0", "1", node="n0", priority=9, priority_class_name="vip"),
    )  # fmt: skip
    (hold,) = closed(plan_of(start, [("web-0", "n1", 1), ("vip-0", "n1", 1)], objective="EmptyNodes"), start)
    assert hold.request.priority_class_name == "vip"


def test_a_pod_that_asks_for_nothing_cannot_be_kept_off() -> None:
    """No placeholder is made in vain."""
    start = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "0", "0", node="n0"), pod("stay-0", node="n0"))
    assert closed(plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad"), start) == []


def test_placeholders_that_stand_there_count() -> None:
    """Where the room of the pod that leaves is kept for another, nothing more is needed."""
    start = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "2", node="n0"), pod("stay-0", "2", node="n0"))
    leaver = start.pod_by_key["default/web-0"]
    beside = HoldMaker(plan_of(start, [("web-0", "n1", 1)]), start, "p", 60).closing("n0", (("cpu", 1000),))
    assert enough_to_close("n0", [leaver], start) == (("cpu", 1),)
    assert enough_to_close("n0", [leaver], start, beside=beside) == ()


def test_empty_nodes_are_told_from_those_that_nobody_of_the_plan_could_use() -> None:
    """A cordoned or virtual node, and one with a taint that no pod tolerates, attracts nobody."""
    tolerant = (Toleration(key="pool", operator="Exists"),)
    start = cluster(
        node("n0", "4"), node("n1", "4"), node("free", "4"), node("cordoned", "4", is_unschedulable=True),
        node("virtual", "4", labels={"type": "virtual-kubelet"}), node("tainted", "4", taints=[taint("other")]),
        node("pool", "4", taints=[taint("pool")]),
        pod("web-0", node="n0"), pod("web-1", node="n1"), pod("side-0", node="n0", tolerations=tolerant),
    )  # fmt: skip
    plan = plan_of(start, [("web-0", "n1", 1), ("side-0", "n1", 1)], objective="EmptyNodes")
    leavers = [start.pod_by_key["default/web-0"], start.pod_by_key["default/side-0"]]
    assert empty_before(plan, plan, ["n0"], start, leavers) == ["free", "pool"]
    other = plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad")
    assert empty_before(other, other, ["n0"], start, leavers) == []
