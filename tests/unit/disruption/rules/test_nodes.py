"""Tests of nodes whose pods are left alone."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.eligibility_context import EVERYTHING, EligibilityContext
from rescheduler.disruption.rules.nodes import marked_node, not_ready_node, virtual_node
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from tests.builders import NOW, cluster, node, pod, taint
from tests.unit.disruption.cases import UNREADY_TOO, policy, rule_against, verdict


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


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"taints": [taint("ToBeDeletedByClusterAutoscaler")]}, "an autoscaler is about to remove"),
        ({"taints": [taint("node.cilium.io/agent-not-ready"), taint("karpenter.sh/disrupted")]}, "about to remove"),
        ({"deletion_at": NOW}, "is being deleted"),
    ],
)
def test_pods_on_nodes_that_are_taken_away_stay(fields: dict[str, Any], why: str) -> None:
    """Whoever takes the node moves them; the mark is named, with the node."""
    found = verdict(pod("web-0", node="n1"), node("n1", cpu="64", **fields))
    assert found is not None
    assert found.rule == "MarkedNode"
    assert "is on node n1, which" in found.message
    assert why in found.message


def test_pods_on_nodes_without_a_mark_go() -> None:
    """Another taint is none."""
    assert verdict(pod("web-0", node="n1"), node("n1", cpu="64", taints=[taint("team", "a")])) is None


@pytest.mark.parametrize("name", [None, "gone"])
def test_rules_about_a_node_say_nothing_where_there_is_none(name: str | None) -> None:
    """A pod without a node, or on one that is not in the snapshot, is for another rule to refuse."""
    seen = cluster(pod("web-0", node=name))
    context = _context(seen)
    assert marked_node(seen.pods[0], context) is None
    assert virtual_node(seen.pods[0], context) is None
    assert not_ready_node(seen.pods[0], context) is None


def _context(seen: Any) -> EligibilityContext:
    return EligibilityContext(seen, policy(), EVERYTHING, frozenset({"default-scheduler"}), {}, EMPTY_LEDGER)
