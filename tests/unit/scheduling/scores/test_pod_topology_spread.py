"""PodTopologySpread as a score: the scheduler's own numbers, defaults from Services and owners, missing keys."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.workload import Service
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread
from tests.builders import NOW, cluster, node, pod, selector, taint, workload
from tests.unit.scheduling.asking import points

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
WEB = {"app": "web"}
SCORE = PodTopologySpread()


def soft(key: str = HOST, skew: int = 1, **fields: Any) -> TopologySpreadConstraint:
    """A soft constraint over the app's pods."""
    return TopologySpreadConstraint(key, skew, "ScheduleAnyway", **{"selector": selector(app="web"), **fields})


def webs(*counts: int) -> list[Any]:
    """So many pods of the app on n0, n1, ..."""
    return [
        pod(f"web{number}-{copy}", node=f"n{number}", labels=WEB)
        for number, count in enumerate(counts)
        for copy in range(count)
    ]


def new(*constraints: TopologySpreadConstraint, **fields: Any) -> Any:
    """The incoming pod."""
    return pod("x", **{"labels": WEB, "topology_spread": constraints, **fields})


@pytest.mark.parametrize(
    ("counts", "skew", "scores"),
    [
        ((0, 0), 1, [100, 100]),
        ((2,), 1, [100]),
        ((1, 1), 1, [100, 100]),
        ((2, 1, 0, 3), 1, [20, 60, 100, 0]),
        ((2, 1, 0, 3), 2, [33, 66, 100, 16]),
        ((4, 3, 2, 1), 3, [44, 66, 77, 100]),
    ],
)
def test_host_names_score_by_the_pods_of_each_node(counts: tuple[int, ...], skew: int, scores: list[int]) -> None:
    """Vectors of the scheduler's own table."""
    nodes = [node(f"n{number}") for number in range(len(counts))]
    assert points(SCORE, cluster(*nodes, *webs(*counts), new(soft(skew=skew)))) == scores


def test_only_feasible_nodes_are_compared() -> None:
    """A node that is out of the question neither sets the scale nor counts as a domain."""
    nodes = [node(f"n{number}") for number in range(4)]
    world = cluster(*nodes, *webs(4, 2, 1, 9), new(soft()))
    assert points(SCORE, world, feasible="n0 n1 n2") == [33, 83, 100]


def test_a_node_without_a_key_scores_nothing() -> None:
    """And its pods do not count."""
    nodes = [node("n0", labels={"rack": "1"}), node("n1"), node("n2", labels={"rack": "2"})]
    assert points(SCORE, cluster(*nodes, *webs(4, 9, 1), new(soft("rack")))) == [16, 0, 100]


ZONES = [node(f"n{number}", zone=zone) for number, zone in enumerate("aabb")]


def test_zones_score_by_all_their_pods_on_feasible_nodes_or_not() -> None:
    """A pod of an infeasible node counts for its zone."""
    assert points(SCORE, cluster(*ZONES, *webs(4, 2, 1, 3), new(soft(ZONE))), feasible="n0 n1 n2") == [75, 75, 100]


def test_several_constraints_add_up() -> None:
    """Zone and host name, each with its own weight."""
    world = cluster(*ZONES, *webs(2, 1, 2, 4), new(soft(ZONE), soft()))
    assert points(SCORE, world, feasible="n0 n2") == [100, 63]


def test_terminating_pods_and_other_namespaces_do_not_count() -> None:
    """As in the filter."""
    nodes = [node("n0"), node("n1")]
    others = [pod("a", node="n0", labels=WEB, deletion_at=NOW), pod("b", node="n0", labels=WEB, namespace="other")]
    assert points(SCORE, cluster(*nodes, *others, *webs(0, 1), new(soft()))) == [100, 0]


def test_policies_bind_zones_but_not_host_names() -> None:
    """A tainted node's pods do not count for its zone where taints are honoured."""
    nodes = [node("n0", zone="a", taints=[taint("k")]), node("n1", zone="a"), node("n2", zone="b")]
    zoned = new(soft(ZONE, honors_node_taints=True))
    assert points(SCORE, cluster(*nodes, *webs(5, 0, 1), zoned), feasible="n1 n2") == [100, 0]
    hosted = new(soft(honors_node_taints=True))
    assert points(SCORE, cluster(*nodes, *webs(5, 0, 1), hosted)) == [0, 100, 75]


def test_an_absent_selector_or_one_that_is_empty_makes_all_equal() -> None:
    """Nothing counts."""
    nodes = [node("n0"), node("n1")]
    for chosen in (None, LabelSelector()):
        assert points(SCORE, cluster(*nodes, *webs(3, 0), new(soft(selector=chosen)))) == [100, 100]


def test_without_constraints_services_select_what_is_spread() -> None:
    """Host names with a skew of 3 and zones with 5; a node without a zone still takes part."""
    nodes = [node("n0", zone="a"), node("n1", zone="b"), node("n2")]
    service = Service("default", "web", {"app": "web"})
    world = cluster(*nodes, *webs(3, 1, 0), new(owner=None), services=(service,))
    # ln(3 nodes + 2) a pod of the node, ln(3 zones, one of them empty, + 2) a pod of its zone, and the skews less 1:
    # 15.66, 9.22 and, for want of a zone, 2.
    assert points(SCORE, world) == [12, 56, 100]
    assert points(SCORE, cluster(*nodes, *webs(3, 1, 0), new(owner=None))) == [0, 0, 0]


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_the_owners_selector_is_spread_by_default_too(kind: str) -> None:
    """All its rules, beside those of Services."""
    rule = LabelSelector((Requirement("app", "In", ("web", "shop")),))
    nodes = [node("n0", zone="a"), node("n1", zone="b")]
    owner = workload("web", 1, kind=kind, selector=rule)
    assert points(SCORE, cluster(*nodes, *webs(1, 0), new(owner="web", kind=kind), owner)) == [66, 100]


def test_other_owners_and_services_of_other_pods_give_no_defaults() -> None:
    """A Job spreads nothing, a Service without a selector selects nothing."""
    nodes = [node("n0", zone="a"), node("n1", zone="b")]
    services = (Service("default", "all"), Service("default", "db", {"app": "db"}), Service("other", "web", WEB))
    world = cluster(
        *nodes, *webs(1, 0), new(owner="web", kind="Job"), workload("web", 1, kind="Job"), services=services
    )
    assert points(SCORE, world) == [0, 0]


def test_a_pod_with_constraints_of_its_own_gets_no_defaults() -> None:
    """Not even if all of them are hard."""
    nodes = [node("n0"), node("n1")]
    hard = TopologySpreadConstraint(HOST, 1, selector=selector(app="web"))
    world = cluster(*nodes, *webs(1, 0), new(hard), services=(Service("default", "web", WEB),))
    assert points(SCORE, world) == [0, 0]


def test_an_operators_defaults_may_need_all_keys() -> None:
    """Unlike the built-in ones."""
    own = PodTopologySpread((TopologySpreadConstraint(ZONE, 1, "ScheduleAnyway"),), defaults_need_all_keys=True)
    nodes = [node("n0", zone="a"), node("n1")]
    world = cluster(*nodes, *webs(1, 0), new(owner=None), services=(Service("default", "web", WEB),))
    assert points(own, world) == [100, 0]
    hard = PodTopologySpread((TopologySpreadConstraint(ZONE, 1),))
    assert points(hard, world) == [0, 0]
