"""Tests of nodes whose pods are left alone."""

from __future__ import annotations

from tests.builders import node, pod
from tests.unit.disruption.cases import rule_against, verdict


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
