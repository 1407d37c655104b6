"""The recount of violations, rule by rule, written out by hand."""

from __future__ import annotations

import pytest

from rescheduler.checker.recounts.fault_domains import violations_by_rule, violations_left
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Toleration
from rescheduler.model.objects.constraints import TopologySpreadConstraint as Spread
from rescheduler.model.objects.workload import Namespace
from tests.builders import NOW, cluster, node, pod, selector, taint
from tests.unit.checker.cases import move, plan

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
A = selector(app="a")


def test_pairs_that_repel_each_other_count_once_for_each_key() -> None:
    """Three of a kind on one node are three pairs by host and three by zone; a stranger is none."""
    terms = (PodAffinityTerm(HOST, A), PodAffinityTerm(ZONE, A))
    pods = [pod(f"a-{number}", node="n1", anti_affinity=terms) for number in range(3)]
    found = cluster(node("n1", zone="x"), node("n2", zone="x"), *pods, pod("b", node="n1"))
    assert violations_by_rule(found, plan())["AntiAffinity"] == 6
    assert violations_by_rule(found, plan(move("a-0", "n1", "n2")))["AntiAffinity"] == 4


def test_a_term_of_either_side_is_enough_and_both_are_no_more() -> None:
    """One pair, whoever holds the term."""
    against_b, against_a = (PodAffinityTerm(HOST, selector(app="b")),), (PodAffinityTerm(HOST, A),)
    for one, other in ((against_b, ()), ((), against_a), (against_b, against_a)):
        found = cluster(node("n1"), pod("a", node="n1", anti_affinity=one), pod("b", node="n1", anti_affinity=other))
        assert violations_left(found, plan()) == 1


def test_terms_look_into_their_own_namespace_unless_they_name_others() -> None:
    """By name or by a selector of namespaces."""
    for term, number in (
        (PodAffinityTerm(HOST, A), 0),
        (PodAffinityTerm(HOST, A, ("other",)), 1),
        (PodAffinityTerm(HOST, A, (), LabelSelector()), 1),
        (PodAffinityTerm(HOST, A, (), selector(team="t")), 1),
        (PodAffinityTerm(HOST, A, (), selector(team="u")), 0),
        (PodAffinityTerm(HOST, None), 0),
    ):
        found = cluster(
            node("n1"),
            pod("c", node="n1", anti_affinity=(term,)),
            pod("a", node="n1", namespace="other"),
            namespaces=(Namespace("other", {"team": "t"}),),
        )
        assert violations_left(found, plan()) == number


def test_company_must_be_in_the_domain_of_every_key() -> None:
    """Of its zone is not enough where the host is asked for too; the first of a kind may be alone."""
    near = (PodAffinityTerm(ZONE, A), PodAffinityTerm(HOST, A))
    nodes = [node("n1", zone="x"), node("n2", zone="x"), node("n3")]
    other = pod("b", node="n1", affinity=near)
    assert violations_by_rule(cluster(*nodes, other), plan())["Affinity"] == 1
    assert violations_by_rule(cluster(*nodes, other, pod("a", node="n2")), plan())["Affinity"] == 1
    assert violations_by_rule(cluster(*nodes, other, pod("a", node="n1")), plan())["Affinity"] == 0
    alone = pod("a-0", node="n1", affinity=near)
    assert violations_by_rule(cluster(*nodes, alone), plan())["Affinity"] == 0
    assert violations_by_rule(cluster(*nodes, alone, pod("a-1", node="n2", affinity=near)), plan())["Affinity"] == 2
    assert violations_by_rule(cluster(*nodes, pod("a-0", node="n3", affinity=near)), plan())["Affinity"] == 1


@pytest.mark.parametrize(
    ("sizes", "skew", "domains", "excess"),
    [((4, 0), 1, 1, 3), ((4, 0), 2, 1, 2), ((3, 3, 0), 1, 1, 4), ((2, 1), 1, 1, 0), ((2, 2), 1, 3, 2), ((5,), 1, 1, 0)],
)
def test_each_pod_above_the_least_domain_and_the_skew_counts(
    sizes: tuple[int, ...], skew: int, domains: int, excess: int
) -> None:
    """With fewer domains than minDomains the least is 0."""
    rule = (Spread(ZONE, skew, selector=A, min_domains=domains),)
    nodes = [node(f"n{number}", zone=f"z{number}") for number in range(len(sizes))]
    pods = [
        pod(f"a-{n}{m}", node=f"n{n}", labels={"app": "a"}, topology_spread=rule)
        for n, k in enumerate(sizes)
        for m in range(k)
    ]
    assert violations_by_rule(cluster(*nodes, *pods), plan())["Spread"] == excess


def test_a_constraint_that_many_hold_counts_once_and_different_ones_each() -> None:
    """Equal by what they count, where, and within which limits; matchLabelKeys and policies make different ones."""
    nodes = [node("n1", zone="x"), node("n2", zone="y", taints=[taint("t")])]

    def spread(*rules: Spread, rev: str = "1") -> int:
        pods = [
            pod(
                f"a-{number}",
                node="n1",
                labels={"app": "a", "rev": rev if number else "1"},
                topology_spread=(rules[number % len(rules)],),
            )
            for number in range(4)
        ]
        return violations_by_rule(cluster(*nodes, *pods), plan())["Spread"]

    assert spread(Spread(ZONE, 1, selector=A)) == 3
    assert spread(Spread(ZONE, 1, selector=A), Spread(ZONE, 2, selector=A)) == 3 + 2
    assert spread(Spread(ZONE, 1, selector=A, honors_node_taints=True)) == 0
    assert spread(Spread(ZONE, 1, selector=A, match_label_keys=("rev",)), rev="2") == 0 + 2
    assert spread(Spread(ZONE, 1, "ScheduleAnyway", A)) == 0
    assert spread(Spread(ZONE, 1, selector=LabelSelector())) == 0
    assert spread(Spread(ZONE, 1, selector=None)) == 0


def test_nodes_that_would_not_admit_a_pod_count_but_conditions_and_noexecute_do_not() -> None:
    """One violation for each such pod, whatever the number of reasons."""
    picky = {"node_selector": (("disk", "ssd"),)}
    for marks, fields, number in (
        ([], picky, 1),
        ([taint("t")], {}, 1),
        ([taint("t")], picky, 1),
        ([taint("t")], {"tolerations": (Toleration("t", "Exists"),)}, 0),
        ([taint("t", "", "NoExecute")], {}, 0),
        ([taint("node.kubernetes.io/unschedulable")], {}, 0),
        ([taint("t")], {"kind": "DaemonSet"}, 0),
        ([taint("t")], {"annotations": {"kubernetes.io/config.mirror": "x"}}, 0),
    ):
        found = cluster(node("n1", taints=marks), pod("a", node="n1", **fields))
        assert violations_by_rule(found, plan())["NodeAffinity"] == number


def test_terminating_pods_neither_violate_nor_are_in_the_way() -> None:
    """They go by themselves."""
    terms = (PodAffinityTerm(HOST, A),)
    pods = [pod(f"a-{n}", node="n1", anti_affinity=terms, deletion_at=NOW if n else None) for n in range(3)]
    assert violations_left(cluster(node("n1"), *pods), plan()) == 0
