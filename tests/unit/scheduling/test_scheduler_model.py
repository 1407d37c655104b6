"""The predicted scheduler: what is feasible, what is shared, what is best, what is not foretold."""

from __future__ import annotations

import pytest

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Toleration
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER, Profile, WeightedScore, default_profile
from rescheduler.scheduling.scheduler_model import SchedulerModel
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from tests.builders import cluster, node, pod, taint
from tests.unit.scheduling.volumes import LATER, ZONE, claim, user, volume, where


def model_of(world: Cluster) -> tuple[SchedulerModel, Placement]:
    """A model of kube-scheduler as it comes, and the placement of the snapshot."""
    columns = columns_of(world)
    return SchedulerModel(columns), Placement(columns)


def test_the_model_is_what_planners_ask() -> None:
    """It fills the extension point."""
    prediction: SchedulerPrediction = model_of(cluster(node("n1"), pod("x")))[0]
    assert prediction.columns.node_count == 1


def test_filters_come_in_the_schedulers_order() -> None:
    """The order decides which reason a node is counted under; our own rule speaks last."""
    assert [plugin.name for plugin in DEFAULT_FILTERS] == [
        "SchedulingGates",
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeReady",
    ]


def test_scores_weigh_as_the_scheduler_weighs_them() -> None:
    """The default profile's weights."""
    weights = {score.plugin.name: score.weight for score in default_profile("v1.36.3").scores}
    assert weights == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "NodeResourcesFit": 1,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


def test_static_verdicts_are_shared_by_pods_that_ask_for_the_same() -> None:
    """Requests, labels and places do not matter; tolerations, selectors, gates and volumes do."""
    tolerant = (Toleration("k", "Exists"),)
    world = cluster(
        node("n1", taints=[taint("k")], zone="a"),
        node("n2", zone="b"),
        pod("a-1", "1", node="n1"),
        pod("b-1", "2", labels={"other": "label"}),
        pod("c-1", tolerations=tolerant),
        pod("d-1", scheduling_gates=("g",)),
        user("e-1", "c1"),
        user("f-1", "c2"),
        user("g-1", "c3"),
        user("h-1", "c4"),
        user("i-1", "c5"),
        claims=tuple(claim(f"c{number}", f"v{number}") for number in range(1, 6)),
        volumes=(
            volume("v1", node_affinity=where(ZONE, "b")),
            volume("v2", node_affinity=where(ZONE, "b")),
            volume("v3", node_affinity=where(ZONE, "a")),
            volume("v4", labels={ZONE: "b"}),
            volume("v5", labels={ZONE: "a"}),
        ),
        storage_classes=(LATER,),
    )
    model, _ = model_of(world)
    masks = {name: model.static_feasible(model.columns.pod_index[f"default/{name}-1"]) for name in "abcdefghi"}
    assert masks["a"] is masks["b"]
    assert masks["e"] is masks["f"]
    assert {name: mask.tolist() for name, mask in masks.items()} == {
        "a": [False, True],
        "b": [False, True],
        "c": [True, True],
        "d": [False, False],
        "e": [False, True],
        "f": [False, True],
        "g": [False, False],
        "h": [False, True],
        "i": [False, False],
    }


def test_a_verdict_on_one_placement_does_not_stick_to_another() -> None:
    """Dynamic rules are asked anew."""
    model, placement = model_of(
        cluster(node("n1", cpu="1"), node("n2", cpu="1"), pod("a", "1", node="n1"), pod("x", "1"))
    )
    moved = placement.copy()
    moved.forget(0)
    moved.assume(0, 1)
    assert model.feasible(1, placement).tolist() == [False, True]
    assert model.feasible(1, moved).tolist() == [True, False]


def test_the_best_nodes_are_all_that_tie() -> None:
    """The scheduler draws lots among them."""
    model, placement = model_of(cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n2"), pod("x")))
    assert model.best_nodes(1, placement).tolist() == [0, 2]


def test_no_node_is_best_if_none_is_feasible_and_the_only_one_is() -> None:
    """Without a comparison."""
    model, placement = model_of(cluster(node("n1", cpu="1"), node("n2"), pod("x", "9"), pod("y", "3")))
    assert model.best_nodes(0, placement).tolist() == []
    assert model.best_nodes(1, placement).tolist() == [1]


def test_an_empty_cluster_has_no_place() -> None:
    """Neither nodes nor errors."""
    model, placement = model_of(cluster(pod("x", ports=[80])))
    assert model.feasible(0, placement).tolist() == []
    assert model.best_nodes(0, placement).tolist() == []
    assert model.explain_failure(0, placement) == "no nodes available to schedule pods"


@pytest.mark.parametrize(
    ("fields", "reasons"),
    [
        ({"unmodelled": ("DynamicResources",)}, ["DynamicResources: not modelled"]),
        ({"unmodelled": ("A", "B")}, ["A: not modelled", "B: not modelled"]),
        ({"scheduler_name": "volcano"}, ['scheduler "volcano" is not configured']),
    ],
)
def test_nothing_is_foretold_of_what_is_not_modelled(fields: dict[str, object], reasons: list[str]) -> None:
    """Such a pod fits nowhere as far as we know, and says why."""
    model, placement = model_of(cluster(node("n1"), pod("x", **fields)))
    assert not model.feasible(0, placement).any()
    assert not model.static_feasible(0).any()
    assert [rejection.reason for rejection in model.reasons(0, placement)] == reasons
    assert not any(rejection.is_resolvable for rejection in model.reasons(0, placement))
    assert not model.verdict(0, placement).feasible.any()


def test_each_scheduler_has_its_own_profile() -> None:
    """Filters, scores and weights by ``schedulerName``."""
    packer = Profile("packer", DEFAULT_FILTERS, (WeightedScore(NodeResourcesFit(strategy="MostAllocated"), 1),))
    columns = columns_of(
        cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("x"), pod("y", scheduler_name="packer"))
    )
    model = SchedulerModel(columns, {DEFAULT_SCHEDULER: default_profile(None), "packer": packer})
    placement = Placement(columns)
    assert model.best_nodes(1, placement).tolist() == [1]
    assert model.best_nodes(2, placement).tolist() == [0]


def test_reasons_name_every_filter_that_refuses_a_node() -> None:
    """Planners see all of them, the scheduler counts the first."""
    model, placement = model_of(cluster(node("n1", cpu="1", taints=[taint("k")]), pod("x", "3")))
    assert [rejection.reason for rejection in model.reasons(0, placement)] == [
        "node(s) had untolerated taint(s)",
        "Insufficient cpu",
    ]
    assert model.verdict(0, placement).reasons(0) == ("node(s) had untolerated taint(s)",)


def test_a_verdict_tells_scores_and_total_of_feasible_nodes() -> None:
    """The total is the weighted sum."""
    model, placement = model_of(
        cluster(node("n1"), node("n2", taints=[taint("k", effect="PreferNoSchedule")]), pod("x"))
    )
    verdict = model.verdict(0, placement)
    assert verdict.message == ""
    assert verdict.scores["TaintToleration"].tolist() == [100, 0]
    weights = {score.plugin.name: score.weight for score in default_profile(None).scores}
    for index in (0, 1):
        total = sum(weights[name] * int(points[index]) for name, points in verdict.scores.items())
        assert int(verdict.total[index]) == total
    assert verdict.best.tolist() == [0]
