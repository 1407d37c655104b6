"""Scores by wishes about nodes and pods: taints, node affinity, pod affinity, images."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescheduler.model.objects.constraints import NodeAffinityRules as Affinity
from rescheduler.model.objects.constraints import (
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    PreferredPodAffinityTerm,
    Requirement,
    Toleration,
)
from rescheduler.scheduling.scores.image_locality import ImageLocality
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.scores.node_affinity import NodeAffinity
from rescheduler.scheduling.scores.taint_toleration import TaintToleration
from rescheduler.scheduling.scoring.normalization import between_extremes, by_largest
from tests.builders import cluster, node, pod, selector, taint
from tests.unit.scheduling.asking import points

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
MIB = 1 << 20


def test_the_usual_normalisation_truncates_shares_of_the_largest() -> None:
    """Of feasible nodes only; reversed it is taken from 100; with 0 everywhere it is 0, or 100 reversed."""
    raw, feasible = np.array([1, 3, 9, 2]), np.array([True, True, False, True])
    assert by_largest(raw, feasible)[feasible].tolist() == [33, 100, 66]
    assert by_largest(raw, feasible, is_reversed=True)[feasible].tolist() == [67, 0, 34]
    assert by_largest(np.zeros(2, dtype=np.int64), np.array([True, True])).tolist() == [0, 0]
    assert by_largest(np.zeros(2, dtype=np.int64), np.array([True, True]), is_reversed=True).tolist() == [100, 100]


def test_the_span_between_extremes_is_divided_before_it_is_multiplied() -> None:
    """In floating point, as the scheduler does: 29 of 100 becomes 28."""
    everywhere = np.ones(3, dtype=np.bool_)
    assert between_extremes(np.array([0, 29, 100]), everywhere).tolist() == [0, 28, 100]
    assert between_extremes(np.array([-7, -7, -7]), everywhere).tolist() == [0, 0, 0]
    assert between_extremes(np.array([5, 6, 7]), ~everywhere).tolist() == [0, 0, 0]


def test_fewer_unwelcoming_taints_score_higher() -> None:
    """Tolerations of every effect or of PreferNoSchedule help; hard taints play no part."""
    soft = [taint("a", effect="PreferNoSchedule"), taint("b", effect="PreferNoSchedule")]
    nodes = [node("n1", taints=soft), node("n2", taints=soft[:1]), node("n3", taints=[taint("c")])]
    assert points(TaintToleration(), cluster(*nodes, pod("x"))) == [0, 50, 100]
    tolerant = pod("x", tolerations=(Toleration("a", "Exists"), Toleration("b", "Exists", "", "NoSchedule")))
    assert points(TaintToleration(), cluster(*nodes, tolerant)) == [0, 100, 100]
    assert points(TaintToleration(), cluster(*nodes, pod("x")), feasible="n3") == [100]


def test_node_affinity_sums_the_weights_of_matching_terms() -> None:
    """Empty terms count nothing; the largest sum among feasible nodes becomes 100."""
    ssd = NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),))
    big = NodeSelectorTerm((Requirement("size", "Exists"),))
    wishes = (PreferredNodeTerm(30, ssd), PreferredNodeTerm(60, big), PreferredNodeTerm(99, NodeSelectorTerm()))
    nodes = [node("n1", labels={"disk": "ssd"}), node("n2", labels={"disk": "ssd", "size": "l"}), node("n3")]
    world = cluster(*nodes, pod("x", node_affinity=Affinity(None, wishes)))
    assert points(NodeAffinity(), world) == [33, 100, 0]
    assert points(NodeAffinity(), world, feasible="n1 n3") == [100, 0]
    assert points(NodeAffinity(), cluster(*nodes, pod("x"))) == [0, 0, 0]


def wish(weight: int, app: str, key: str = HOST) -> tuple[PreferredPodAffinityTerm, ...]:
    """One preferred term about an app."""
    return (PreferredPodAffinityTerm(weight, PodAffinityTerm(key, selector(app=app))),)


NODES = [node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b")]


def test_own_wishes_attract_and_repel_by_the_number_of_pods() -> None:
    """Each matching pod adds or takes its weight in every node of its domain."""
    dbs = [pod("db-1", node="n1"), pod("db-2", node="n3"), pod("db-3", node="n3")]
    assert points(InterPodAffinity(), cluster(*NODES, *dbs, pod("x", preferred_affinity=wish(5, "db", ZONE)))) == [
        0,
        0,
        100,
    ]
    assert points(InterPodAffinity(), cluster(*NODES, *dbs, pod("x", preferred_anti_affinity=wish(5, "db")))) == [
        50,
        100,
        0,
    ]


def test_wishes_and_hard_terms_of_others_count_for_the_incoming_pod() -> None:
    """A required affinity term of another pod counts with the hard weight."""
    about = (PodAffinityTerm(HOST, selector(app="x")),)
    others: list[Any] = [
        pod("a-1", node="n1", preferred_affinity=wish(4, "x")),
        pod("b-1", node="n2", affinity=about),
        pod("c-1", node="n3", preferred_anti_affinity=wish(4, "x")),
    ]
    world = cluster(*NODES, *others, pod("x"))
    assert points(InterPodAffinity(), world) == [100, 62, 0]
    assert points(InterPodAffinity(hard_weight=4), world) == [100, 100, 0]
    assert points(InterPodAffinity(hard_weight=0), world) == [100, 50, 0]
    assert points(InterPodAffinity(ignores_wishes_of_others=True), world) == [0, 0, 0]


def test_a_term_that_another_pod_holds_twice_counts_twice() -> None:
    """Also where only its namespaces are written otherwise, as kube-scheduler takes every term by itself."""
    once = PodAffinityTerm(HOST, selector(app="x"))
    again = PodAffinityTerm(HOST, selector(app="x"), namespaces=("default",))
    others = [pod("a-1", node="n1", affinity=(once, again)), pod("b-1", node="n2", affinity=(once,))]
    assert points(InterPodAffinity(), cluster(*NODES, *others, pod("x"))) == [100, 50, 0]


def test_a_pods_own_copy_does_not_attract_it() -> None:
    """A running pod is scored as if it came anew."""
    world = cluster(*NODES, pod("x", node="n1", preferred_affinity=wish(5, "x")))
    assert points(InterPodAffinity(), world) == [0, 0, 0]


def test_images_count_by_size_and_by_how_common_they_are() -> None:
    """Between 23 MiB and 1000 MiB a container; a name without a tag means the latest one."""
    image = ("registry:5000/app:latest", 600 * MIB)
    nodes = [node("n1", images=(image, ("side:1", 800 * MIB))), node("n2", images=(image,)), node("n3")]
    untagged = pod("x", images=("registry:5000/app",))
    shared = 600 * MIB * 2 // 3
    expected = 100 * (shared - 23 * MIB) // (977 * MIB)
    assert points(ImageLocality(), cluster(*nodes, untagged)) == [expected, expected, 0]
    two = pod("x", images=("registry:5000/app", "side:1"), container_count=2)
    both = int(600 * MIB * (2 / 3)) + int(800 * MIB * (1 / 3))
    assert points(ImageLocality(), cluster(*nodes, two))[0] == 100 * (both - 23 * MIB) // (2000 * MIB - 23 * MIB)
    assert points(ImageLocality(), cluster(*nodes, pod("x", images=("app@sha256:0",)))) == [0, 0, 0]


def test_images_never_count_for_more_than_all() -> None:
    """A huge image on every node is 100."""
    nodes = [node("n1", images=(("a:1", 5000 * MIB),))]
    assert points(ImageLocality(), cluster(*nodes, pod("x", images=("a:1",)))) == [100]


def test_an_image_has_one_size_that_of_the_first_node() -> None:
    """Whatever other nodes say, as in kube-scheduler's cache."""
    nodes = [node("n1", images=(("a:1", 500 * MIB),)), node("n2", images=(("a:1", 900 * MIB),)), node("n3")]
    wanted = 100 * (500 * 2 * MIB // 3 - 23 * MIB) // (977 * MIB)
    assert points(ImageLocality(), cluster(*nodes, pod("x", images=("a:1",)))) == [wanted, wanted, 0]
