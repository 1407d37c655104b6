"""Node selectors and required node affinity, with the scheduler's gotchas."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import NodeAffinityRules as Affinity
from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement
from rescheduler.scheduling.filters.node_affinity import NodeAffinity
from tests.builders import cluster, node, pod
from tests.unit.scheduling.asking import refused, rejections

NODES = (
    node("n1", labels={"disk": "ssd", "size": "10"}),
    node("n2", labels={"disk": "hdd", "size": "9"}),
    node("n3"),
    node("n4", labels={"size": "ten"}),
)
UNMATCHED = "node(s) didn't match Pod's node affinity/selector"
RULED_OUT = "node(s) didn't satisfy plugin(s) [NodeAffinity]"


def by_label(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    """A term with one rule about labels."""
    return NodeSelectorTerm((Requirement(key, operator, values),))


def by_name(operator: str, *values: str, key: str = "metadata.name") -> NodeSelectorTerm:
    """A term with one rule about fields."""
    return NodeSelectorTerm((), (Requirement(key, operator, values),))


@pytest.mark.parametrize(
    ("terms", "passing"),
    [
        ([by_label("disk", "In", "ssd", "nvme")], "n1"),
        ([by_label("disk", "NotIn", "ssd")], "n2 n3 n4"),
        ([by_label("disk", "Exists")], "n1 n2"),
        ([by_label("disk", "DoesNotExist")], "n3 n4"),
        ([by_label("size", "Gt", "9")], "n1"),
        ([by_label("size", "Lt", "10")], "n2"),
        ([by_label("size", "Gt", "nine")], ""),
        ([by_label("size", "Gt", "1", "2")], ""),
        ([by_label("disk", "In")], ""),
        ([by_label("disk", "Resembles", "ssd")], ""),
        ([NodeSelectorTerm()], ""),
        ([], ""),
        ([NodeSelectorTerm(), by_label("disk", "In", "hdd")], "n2"),
        ([by_label("disk", "In", "ssd"), by_label("disk", "In", "hdd")], "n1 n2"),
        ([NodeSelectorTerm((Requirement("disk", "Exists"), Requirement("size", "In", ("9",))))], "n2"),
        ([by_name("NotIn", "n1")], "n2 n3 n4"),
        ([by_name("In", "n1", key="metadata.uid"), by_label("disk", "In", "hdd")], "n2"),
        ([NodeSelectorTerm((Requirement("disk", "Exists"),), (Requirement("metadata.name", "NotIn", ("n1",)),))], "n2"),
    ],
)
def test_required_terms_are_ored_and_their_rules_anded(terms: list[NodeSelectorTerm], passing: str) -> None:
    """Absent labels satisfy NotIn and DoesNotExist; empty terms and an empty list of terms match nothing."""
    pods = pod("x", node_affinity=Affinity(tuple(terms)))
    found = refused(NodeAffinity(), cluster(*NODES, pods))
    assert sorted(found) == [n.name for n in NODES if n.name not in passing.split()]
    assert set(found.values()) <= {(UNMATCHED,)}


def test_the_node_selector_and_the_affinity_must_both_match() -> None:
    """A node selector is one more condition beside the terms, and no eviction helps."""
    pods = pod("x", node_selector=(("disk", "ssd"),), node_affinity=Affinity((by_label("size", "Exists"),)))
    (rejection,) = rejections(NodeAffinity(), cluster(*NODES, pods), "x")
    assert rejection.nodes.tolist() == [False, True, True, True]
    assert not rejection.is_resolvable


def test_a_pod_for_named_nodes_rules_the_others_out_beforehand() -> None:
    """Where every term names its nodes, as a DaemonSet's do, the scheduler words the others' refusal differently."""
    terms = (NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),), (Requirement("metadata.name", "In", ("n2",)),)),)
    found = refused(NodeAffinity(), cluster(*NODES, pod("x", node_affinity=Affinity(terms))))
    assert found == {"n1": (RULED_OUT,), "n2": (UNMATCHED,), "n3": (RULED_OUT,), "n4": (RULED_OUT,)}


def test_a_name_beside_a_term_without_names_rules_nothing_out_beforehand() -> None:
    """Terms are alternatives, so a node of another name may still match."""
    terms = (by_name("In", "n1"), by_label("disk", "In", "hdd"))
    found = refused(NodeAffinity(), cluster(*NODES, pod("x", node_affinity=Affinity(terms))))
    assert found == {"n3": (UNMATCHED,), "n4": (UNMATCHED,)}


def test_names_that_exclude_each_other_are_a_fault_of_the_pod() -> None:
    """No node has two names."""
    rules = (Requirement("metadata.name", "In", ("n1",)), Requirement("metadata.name", "In", ("n2",)))
    pods = pod("x", node_affinity=Affinity((NodeSelectorTerm((), rules),)))
    (rejection,) = rejections(NodeAffinity(), cluster(*NODES, pods), "x")
    assert (rejection.reason, rejection.scope, rejection.nodes.all()) == ("pod affinity terms conflict", "pod", True)


def test_a_running_pod_may_sit_where_it_would_no_longer_be_put() -> None:
    """The rule is about arrivals; the pod's own node is judged like any other."""
    pods = pod("x", node="n1", node_selector=(("disk", "hdd"),))
    assert "n1" in refused(NodeAffinity(), cluster(*NODES, pods))
