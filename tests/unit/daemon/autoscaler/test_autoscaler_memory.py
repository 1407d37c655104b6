"""Tests of what is remembered of an autoscaler's words and deeds."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.daemon.autoscaler.autoscaler_memory import AutoscalerMemory
from rescheduler.model.daemon.rounds import AutoscalerNotice
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, node_mark
from tests.builders import NOW, cluster, node, pod, taint

TRIGGERED = "pod triggered scale-up: [{pool-a 1->2 (max: 3)} {pool-b 0->1 (max: 1)}]"


def said(
    reason: str, *, at: float = NOW, kind: str = "Pod", name: str = "big-0", message: str = ""
) -> AutoscalerNotice:
    """A notice of cluster-autoscaler."""
    namespace = "default" if kind == "Pod" else ""
    return AutoscalerNotice(at, "cluster-autoscaler", reason, kind, namespace, name, message)


def seen(*more: Any, at: float = NOW, nodes: tuple[str, ...] = ("n1",)) -> Cluster:
    """Nodes and a pending pod."""
    return cluster(*(node(name) for name in nodes), pod("big-0"), *more, taken_at=at)


def after(*notices: AutoscalerNotice, world: Cluster | None = None) -> AutoscalerMemory:
    """A memory that has looked once."""
    memory = AutoscalerMemory()
    memory.look(world or seen(), notices)
    return memory


PENDING = pod("big-0")


def test_a_promised_node_is_remembered_as_long_as_the_pod_waits() -> None:
    """With the groups it comes from; a pod that is gone, or has its place, is forgotten."""
    memory = after(said("TriggeredScaleUp", message=TRIGGERED))
    promise = memory.promise(PENDING)
    assert promise is not None
    assert (promise.at, promise.reason, promise.sources) == (NOW, "TriggeredScaleUp", ("pool-a", "pool-b"))
    memory.look(cluster(node("n1"), pod("big-0", node="n1")))
    assert memory.promise(PENDING) is None


@pytest.mark.parametrize(
    ("failure", "is_kept"),
    [
        (said("NotTriggerScaleUp", at=NOW + 1), False),
        (said("NotTriggerScaleUp", at=NOW - 1), True),
        (said("NotTriggerScaleUp", at=NOW + 1, name="other-0"), True),
        (said("FailedToScaleUpGroup", at=NOW + 1, kind="ConfigMap", name="s", message="group pool-a: no money"), False),
        (said("FailedToScaleUpGroup", at=NOW + 1, kind="ConfigMap", name="s", message="group pool-ab failed"), True),
        (said("FailedToScaleUpGroup", at=NOW - 1, kind="ConfigMap", name="s", message="group pool-a failed"), True),
        (said("ScaleUpTimedOut", at=NOW + 1, kind="ConfigMap", name="s", message='"pool-b" timed out'), False),
    ],
    ids=["taken back", "older", "of another pod", "group failed", "other group", "older failure", "timed out"],
)
def test_a_promise_may_be_taken_back(failure: AutoscalerNotice, is_kept: bool) -> None:
    """By a later word about the pod, or about a group that its node was to come from."""
    memory = after(said("TriggeredScaleUp", message=TRIGGERED), failure)
    assert (memory.promise(PENDING) is not None) is is_kept


def test_karpenters_claims_are_known_by_name() -> None:
    """A claim for which there is no capacity ends what was promised from it."""
    nominated = AutoscalerNotice(
        NOW, "karpenter", "Nominated", "Pod", "default", "big-0", "Pod should schedule on: nodeclaim/default-x7"
    )
    failed = AutoscalerNotice(NOW + 1, "karpenter", "InsufficientCapacityError", "NodeClaim", "", "default-x7")
    assert after(nominated).promise(PENDING) is not None
    assert after(nominated, failed).promise(PENDING) is None


@pytest.mark.parametrize(
    ("message", "after_seconds", "is_believed"),
    [
        ("Pod should schedule on: node/n1", 19, True),
        ("Pod should schedule on: node/n1", 20, False),
        ("Pod should schedule on: nodeclaim/default-x7, node/n1", 20, False),
        ("Pod should schedule on: nodeclaim/default-x7, node/new", 599, True),
        ("Pod should schedule on: nodeclaim/default-x7", 599, True),
    ],
)
def test_a_nomination_of_a_node_that_is_there_is_a_guess(message: str, after_seconds: float, is_believed: bool) -> None:
    """It is believed for as long as Karpenter holds on to it; that of a machine that is coming, as any promise."""
    memory = after(AutoscalerNotice(NOW, "karpenter", "Nominated", "Pod", "default", "big-0", message))
    memory.look(seen(at=NOW + after_seconds))
    assert (memory.promise(PENDING) is not None) is is_believed


def test_a_node_that_comes_by_a_scale_up_prolongs_it() -> None:
    """A node that somebody adds by hand, where no autoscaler was heard of, is none of its."""
    memory = after(said("TriggeredScaleUp"))
    memory.look(seen(at=NOW + 200, nodes=("n1", "n2")))
    assert (memory.scaled_up_at, memory.came_at) == (NOW + 200, NOW + 200)
    by_hand = after()
    by_hand.look(seen(at=NOW + 200, nodes=("n1", "n2")))
    assert by_hand.scaled_up_at == float("-inf")
    assert by_hand.came_at == NOW + 200


def test_nodes_at_the_start_have_not_come() -> None:
    """But one of the same name that was made anew has."""
    memory = after()
    assert memory.came_at == float("-inf")
    memory.look(cluster(node_again("n1"), taken_at=NOW + 5))
    assert memory.came_at == NOW + 5


def node_again(name: str) -> Node:
    """Another node of this name."""
    from msgspec.structs import replace

    return replace(node(name), uid="another")


def test_pods_made_since_a_scale_down_are_known() -> None:
    """By what was said of a node, or because one that was marked is gone; not those from before, or much later."""
    spoken = after(said("ScaleDownEmpty", kind="ConfigMap", name="status"))
    marked = cluster(node("n1"), node("n2", taints=[taint("ToBeDeletedByClusterAutoscaler")]), taken_at=NOW - 1)
    vanished = after(world=marked)
    vanished.look(seen(at=NOW))
    for memory in (spoken, vanished):
        assert memory.came_by_scale_down(pod("a-0", created_at=NOW + 5), 600)
        assert not memory.came_by_scale_down(pod("a-0", created_at=NOW - 5), 600)
        assert not memory.came_by_scale_down(pod("a-0", created_at=NOW + 601), 600)
        assert not memory.came_by_scale_down(pod("a-0", created_at=None), 600)
    plain = after(world=cluster(node("n1"), node("n2"), taken_at=NOW - 1))
    plain.look(seen(at=NOW))
    assert not plain.came_by_scale_down(pod("a-0", created_at=NOW + 5), 600)


def test_a_node_whose_claim_is_deleted_carries_karpenters_mark() -> None:
    """Until it is gone; one that Karpenter has marked itself is left as it is."""
    deleting = AutoscalerNotice(NOW, "karpenter", "Deleting", "NodeClaim", "", "default-x7", "node n1")
    memory = after(deleting, world=seen(nodes=("n1", "n2")))
    shown = memory.marked(seen(nodes=("n1", "n2")))
    assert [node_mark(item) is None for item in shown.nodes] == [False, True]
    already = cluster(node("n1", taints=[taint("karpenter.sh/disrupted")]))
    assert memory.marked(already).nodes == already.nodes
    memory.look(seen(nodes=("n2",)))
    memory.look(seen(nodes=("n1", "n2")))
    assert [node_mark(item) for item in memory.marked(seen(nodes=("n1", "n2"))).nodes] == [None, None]
