"""Node affinity that a scheduler's profile demands."""

from __future__ import annotations

from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement
from rescheduler.scheduling.filters.enforced_node_affinity import EnforcedNodeAffinity
from tests.builders import cluster, node, pod
from tests.unit.scheduling.asking import refused

WORLD = cluster(node("n1", labels={"pool": "a"}), node("n2", labels={"pool": "b"}), node("n3"), pod("x"))
UNMATCHED = ("node(s) didn't match scheduler-enforced node affinity",)


def test_any_term_will_do() -> None:
    """Terms are alternatives, by label or by name."""
    by_label = NodeSelectorTerm((Requirement("pool", "In", ("a",)),))
    by_name = NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n3",)),))
    assert refused(EnforcedNodeAffinity((by_label,)), WORLD) == {"n2": UNMATCHED, "n3": UNMATCHED}
    assert refused(EnforcedNodeAffinity((by_label, by_name)), WORLD) == {"n2": UNMATCHED}


def test_rules_of_a_term_must_all_hold() -> None:
    """One rule that fails is enough against a node."""
    both = NodeSelectorTerm((Requirement("pool", "Exists"), Requirement("pool", "NotIn", ("a",))))
    assert refused(EnforcedNodeAffinity((both,)), WORLD) == {"n1": UNMATCHED, "n3": UNMATCHED}


def test_no_term_matches_nothing() -> None:
    """As for a pod's own required affinity."""
    assert refused(EnforcedNodeAffinity(()), WORLD) == {"n1": UNMATCHED, "n2": UNMATCHED, "n3": UNMATCHED}
