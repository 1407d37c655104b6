"""Tests of what a node itself says."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, Requirement, Toleration
from rescheduler.model.objects.node import Node
from tests.builders import NOW, cluster, node, pod, taint
from tests.unit.checker.cases import broken, place, plan


def placed_on(target: Node, **fields: Any) -> set[str]:
    """What placing a pod with these fields on a node breaks."""
    return broken(cluster(target, pod("new-0", **fields)), plan(place("new-0", target.name)))


EXISTS = Toleration(operator="Exists")


@pytest.mark.parametrize(
    ("target", "rules"),
    [
        (node("n1"), set()),
        (node("n1", problem="no allocatable"), {"NodeUsable"}),
        (node("n1", problem=""), {"NodeUsable"}),
        (node("n1", labels={"type": "virtual-kubelet"}), {"NodeUsable"}),
        (node("n1", deletion_at=NOW), {"NodeUsable"}),
        (node("n1", taints=[taint("DeletionCandidateOfClusterAutoscaler", "1", "PreferNoSchedule")]), {"NodeUsable"}),
        (node("n1", is_ready=False), {"NodeReady"}),
        (node("n1", is_unschedulable=True), {"NodeUnschedulable"}),
        (node("n1", taints=[taint("a", "1")]), {"TaintToleration"}),
        (node("n1", taints=[taint("a", "1", "NoExecute")]), {"TaintToleration"}),
        (node("n1", taints=[taint("a", "1", "PreferNoSchedule")]), set()),
    ],
)
def test_nodes_that_take_no_plain_pod(target: Node, rules: set[str]) -> None:
    """Each state of a node is refused by its own rule."""
    assert placed_on(target) == rules


def test_tolerating_everything_opens_cordoned_and_tainted_nodes_but_no_unready_one() -> None:
    """Readiness is no matter of tolerations here."""
    assert placed_on(node("n1", is_unschedulable=True, taints=[taint("a")]), tolerations=(EXISTS,)) == set()
    assert placed_on(node("n1", is_ready=False), tolerations=(EXISTS,)) == {"NodeReady"}


@pytest.mark.parametrize(
    ("toleration", "is_covered"),
    [
        (Toleration("a", "Exists"), True),
        (Toleration("a", "Equal", "1"), True),
        (Toleration("a", "", "1"), True),
        (Toleration("a", "Equal", "2"), False),
        (Toleration("a", "Equal", "1", "NoSchedule"), True),
        (Toleration("a", "Equal", "1", "NoExecute"), False),
        (Toleration("b", "Exists"), False),
        (Toleration("", "Equal", "1"), True),
        (Toleration("", "Equal", "2"), False),
        (Toleration("a", "Lt", "1"), False),
    ],
)
def test_tolerations(toleration: Toleration, *, is_covered: bool) -> None:
    """Empty key and effect stand for all; the value counts unless the operator is Exists."""
    rules = placed_on(node("n1", taints=[taint("a", "1")]), tolerations=(toleration,))
    assert rules == (set() if is_covered else {"TaintToleration"})


def required(*terms: NodeSelectorTerm) -> NodeAffinityRules:
    """Required node affinity."""
    return NodeAffinityRules(required=terms)


def term(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    """A term of one label rule."""
    return NodeSelectorTerm((Requirement(key, operator, values),))


def by_name(operator: str, *values: str) -> NodeSelectorTerm:
    """A term on the node's name."""
    return NodeSelectorTerm(fields=(Requirement("metadata.name", operator, values),))


@pytest.mark.parametrize(
    ("affinity", "is_match"),
    [
        (NodeAffinityRules(), True),
        (required(), False),
        (required(NodeSelectorTerm()), False),
        (required(NodeSelectorTerm(), term("size", "Exists")), True),
        (required(term("size", "In", "7", "8")), True),
        (required(term("size", "NotIn", "7")), False),
        (required(term("none", "NotIn", "7")), True),
        (required(term("none", "In", "7")), False),
        (required(term("none", "DoesNotExist")), True),
        (required(term("size", "DoesNotExist")), False),
        (required(term("size", "Gt", "6")), True),
        (required(term("size", "Gt", "7")), False),
        (required(term("size", "Lt", "8")), True),
        (required(term("size", "Lt", "+8")), True),
        (required(term("size", "Lt", "7")), False),
        (required(term("size", "Lt", "9223372036854775807")), True),
        (required(term("size", "Lt", "9223372036854775808")), False),
        (required(term("size", "Gt", "-9223372036854775808")), True),
        (required(term("size", "Gt", "-9223372036854775809")), False),
        (required(term("size", "Lt", "x")), False),
        (required(term("size", "Lt", "99999999999999999999")), False),
        (required(term("size", "Lt", "9999999999999999999")), False),
        (required(term("size", "Lt", "8", "9")), False),
        (required(term("size", "Near", "8")), False),
        (required(term("kubernetes.io/hostname", "Gt", "1")), False),
        (required(by_name("In", "n1")), True),
        (required(by_name("NotIn", "n1")), False),
        (required(by_name("In", "n1", "n2")), False),
        (required(NodeSelectorTerm(fields=(Requirement("metadata.uid", "In", ("n1",)),))), False),
        (required(term("size", "In", "1"), by_name("In", "n1")), True),
    ],
)
def test_node_affinity(affinity: NodeAffinityRules, *, is_match: bool) -> None:
    """Terms are alternatives, rules within a term all hold; nonsense matches nothing."""
    rules = placed_on(node("n1", labels={"size": "7"}), node_affinity=affinity)
    assert rules == (set() if is_match else {"NodeAffinity"})


def test_node_selectors_must_all_match() -> None:
    """One missing pair refuses."""
    target = node("n1", labels={"size": "7"})
    assert placed_on(target, node_selector=(("size", "7"),)) == set()
    assert placed_on(target, node_selector=(("size", "7"), ("disk", "ssd"))) == {"NodeAffinity"}
