"""Filters that look at the node and the pod alone: gates, cordons, names, readiness, taints."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import Taint, Toleration
from rescheduler.model.objects.node import Node
from rescheduler.scheduling.filters.node_name import NodeName
from rescheduler.scheduling.filters.node_ready import NodeReady
from rescheduler.scheduling.filters.node_unschedulable import NodeUnschedulable
from rescheduler.scheduling.filters.scheduling_gates import SchedulingGates
from rescheduler.scheduling.filters.taint_toleration import TaintToleration
from tests.builders import NOW, cluster, node, pod, taint
from tests.unit.scheduling.asking import refused, rejections


def test_a_gated_pod_is_refused_everywhere_by_a_fault_of_its_own() -> None:
    """Any scheduling gate keeps a pod out, and no eviction can help."""
    (rejection,) = rejections(
        SchedulingGates(), cluster(node("n1"), node("n2"), pod("x", scheduling_gates=("g",))), "x"
    )
    assert rejection.reason == "Scheduling is blocked due to non-empty scheduling gates"
    assert (rejection.nodes.all(), rejection.scope, rejection.is_resolvable) == (True, "pod", False)


@pytest.mark.parametrize(
    ("toleration", "is_refused"),
    [
        (None, True),
        (Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"), False),
        (Toleration("", "Exists"), False),
        (Toleration("node.kubernetes.io/unschedulable", "Exists", "", "NoExecute"), True),
        (Toleration("another", "Exists"), True),
    ],
)
def test_a_cordoned_node_takes_only_pods_that_tolerate_the_cordon(
    toleration: Toleration | None, is_refused: bool
) -> None:
    """``spec.unschedulable`` stands for a NoSchedule taint, whether or not the node carries it."""
    tolerations = (toleration,) if toleration else ()
    found = refused(
        NodeUnschedulable(), cluster(node("n1", is_unschedulable=True), node("n2"), pod("x", tolerations=tolerations))
    )
    assert found == ({"n1": ("node(s) were unschedulable",)} if is_refused else {})


def test_a_running_pod_is_not_tied_to_the_node_it_names() -> None:
    """Its replacement is made without ``nodeName``, so every node may take it."""
    assert refused(NodeName(), cluster(node("n1"), node("n2"), pod("x", node="n1"))) == {}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (node("n1", is_ready=False), "node(s) were not ready"),
        (node("n1", deletion_at=NOW), "node(s) were being deleted"),
        (node("n1", labels={"type": "virtual-kubelet"}), "node(s) were virtual (label type=virtual-kubelet)"),
        (node("n1", problem="it lists no allocatable"), "node(s) could not be used: it lists no allocatable"),
    ],
)
def test_an_unusable_node_takes_nothing_even_if_every_taint_is_tolerated(bad: Node, reason: str) -> None:
    """Our own rule beside the scheduler's; it names what is wrong with the node."""
    tolerant = pod("x", tolerations=(Toleration("", "Exists"),))
    assert refused(NodeReady(), cluster(bad, node("n2"), tolerant)) == {"n1": (reason,)}


UNTOLERATED = {"n1": ("node(s) had untolerated taint(s)",)}


@pytest.mark.parametrize(
    ("carried", "toleration", "is_refused"),
    [
        (taint("k", "v"), None, True),
        (taint("k", "v", "NoExecute"), None, True),
        (taint("k", "v", "PreferNoSchedule"), None, False),
        (taint("k", "v"), Toleration("k", "Equal", "v"), False),
        (taint("k", "v"), Toleration("k", "", "v"), False),
        (taint("k", "v"), Toleration("k", "Equal", "w"), True),
        (taint("k", "v"), Toleration("k", "Exists"), False),
        (taint("k", "v"), Toleration("", "Exists"), False),
        (taint("k", "v"), Toleration("", "Equal", "v"), False),
        (taint("k", "v"), Toleration("k", "Exists", "", "NoExecute"), True),
        (taint("k", "v", "NoExecute"), Toleration("k", "Exists", "", "NoExecute"), False),
        (taint("k", "5"), Toleration("k", "Gt", "3"), True),
    ],
)
def test_tolerations_match_by_key_value_operator_and_effect(
    carried: Taint, toleration: Toleration | None, is_refused: bool
) -> None:
    """An empty key or effect stands for all of them; Lt and Gt are not honoured."""
    tolerations = (toleration,) if toleration else ()
    found = refused(
        TaintToleration(), cluster(node("n1", taints=[carried]), node("n2"), pod("x", tolerations=tolerations))
    )
    assert found == (UNTOLERATED if is_refused else {})


def test_every_taint_must_be_tolerated() -> None:
    """One untolerated taint among tolerated ones is enough, and no eviction helps."""
    both = node("n1", taints=[taint("k"), taint("other")])
    (rejection,) = rejections(TaintToleration(), cluster(both, pod("x", tolerations=(Toleration("k", "Exists"),))), "x")
    assert not rejection.is_resolvable
