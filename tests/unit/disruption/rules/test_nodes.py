"""Tests of nodes whose pods are left alone."""

from __future__ import annotations

from tests.builders import node, pod
from tests.unit.disruption.cases import UNREADY_TOO, rule_against, verdict


def test_pods_on_virtual_nodes_stay() -> None:
    """A virtual kubelet's node is no source."""
    assert rule_against(pod("web-0", node="n1"), node("n1", labels={"type": "virtual-kubelet"})) == "VirtualNode"


def test_pods_on_nodes_that_cannot_be_used_stay() -> None:
    """A node with a problem is named with it, an unknown one by its name."""
    broken = verdict(pod("web-0", node="n1"), node("n1", problem="no allocatable"))
    assert broken is not None
    assert broken.rule == "UnusableNode"
    assert "no allocatable" in broken.message
    unknown = verdict(pod("web-0", node="gone"))
    assert unknown is not None
    assert unknown.rule == "UnusableNode"
    assert "gone" in unknown.message


def test_pods_on_nodes_that_are_not_ready_stay_unless_the_policy_allows_them() -> None:
    """Of a node that does not answer nobody knows what its pods are at, though they still look ready."""
    down = node("n1", cpu="64", is_ready=False)
    found = verdict(pod("web-0", node="n1"), down)
    assert found is not None
    assert found.rule == "NodeNotReady"
    assert "node n1, which is not Ready (policy: disruption.notReady)" in found.message
    assert rule_against(pod("web-0", node="n1"), down, policy=UNREADY_TOO) is None
