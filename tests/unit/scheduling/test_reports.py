"""What ``score`` and ``schedule`` print, key by key."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.configuration.profiles import NamedScore
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER, Profile, WeightedScore
from rescheduler.scheduling.reports import Sample, ScoreDetails, schedule_of, scores_of
from rescheduler.scheduling.scheduler_model import SchedulerModel
from rescheduler.scheduling.scores.image_locality import ImageLocality
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from tests.builders import cluster, node, pod, taint
from tests.unit.scheduling.random_clusters import placements

# What stands behind the scores of a pod: lines that add up to the total, and a word on nodes that are not scored.


def details(*objects: object, profile: Profile | None = None) -> ScoreDetails:
    """Details of pod x."""
    columns = columns_of(cluster(*objects))  # type: ignore[arg-type]
    model = SchedulerModel(columns, {DEFAULT_SCHEDULER: profile} if profile else None)
    return ScoreDetails(model, columns.pod_index["default/x"])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(placement=placements)
def test_lines_say_what_the_scores_say(placement: Placement) -> None:
    """For every pod and each feasible node: the same scores, weighted parts of the total, texts that end with them."""
    model = SchedulerModel(placement.columns)
    names = [item.name for item in placement.columns.cluster.nodes]
    for number, subject in enumerate(placement.columns.cluster.pods):
        lines = ScoreDetails(model, number).lines(names)
        told = scores_of(model, subject.key).nodes
        assert set(lines) == {item.node for item in told if item.feasible}
        for item in told:
            if item.feasible:
                assert {line.plugin: line.score for line in lines[item.node]} == item.scores
                assert sum(line.weight * line.score for line in lines[item.node]) == item.total
                assert all(line.text.endswith(f" {line.score}") for line in lines[item.node])


def test_only_feasible_nodes_that_are_asked_for_have_lines() -> None:
    """In the profile's order, under the names that the profile gives."""
    nodes = (node("n1"), node("n2", taints=[taint("k")]), node("n3"))
    packs = NamedScore("packs", NodeResourcesFit("MostAllocated"))
    profile = Profile(DEFAULT_SCHEDULER, (), (WeightedScore(packs, 3), WeightedScore(ImageLocality(), -1)))
    assert set(details(*nodes, pod("x")).lines(["n1", "n2"])) == {"n1"}
    (lines,) = details(*nodes, pod("x", "2", "8Gi"), profile=profile).lines(["n3"]).values()
    assert [line[:3] for line in lines] == [("packs", 3, 50), ("ImageLocality", -1, 0)]
    assert lines[0].text.startswith("MostAllocated: cpu 100 x (0 + 2) / 4 = 50; ")


def test_nothing_is_said_where_nothing_is_scored() -> None:
    """A scheduler that is not configured, a pod that fits nowhere, a profile without scores."""
    for subject in (pod("x", scheduler_name="other"), pod("x", "99")):
        asked = details(node("n1"), subject)
        assert (asked.lines(["n1"]), asked.sample()) == ({}, None)
    assert details(node("n1"), pod("x"), profile=Profile(DEFAULT_SCHEDULER, (), ())).lines(["n1"]) == {"n1": ()}


def test_a_sample_names_all_nodes_that_may_be_chosen() -> None:
    """Of 250 empty nodes 120 are scored: beyond the best, those that 130 others may be left out before."""
    nodes = [node(f"n{number}") for number in range(250)]
    held = [pod(f"a-{number}", "2", node=f"n{number}") for number in range(100)]
    asked = details(*nodes, *held, pod("x"))
    found = asked.sample()
    assert found is not None
    assert found[:3] == (120, 250, 150)
    totals = [item.total for item in scores_of(asked.model, "default/x").nodes]
    assert found.least == max(total for total in totals if total is not None)
    assert isinstance(found, Sample)


def test_no_sample_in_a_small_cluster_or_for_a_nominated_pod() -> None:
    """Below 100 nodes all are scored; a node that the pod is nominated to is looked at first and alone."""
    small = [node(f"n{number}") for number in range(99)]
    assert details(*small, pod("x")).sample() is None
    large = [node(f"n{number}") for number in range(250)]
    assert details(*large, pod("x", nominated_node="n7")).sample() is None
    assert details(*large[1:], node("n0", "0"), pod("x", nominated_node="n0")).sample() is not None
    everywhere = details(*large, pod("x"), profile=Profile(DEFAULT_SCHEDULER, (), (), (), 100))
    assert everywhere.sample() is None


def printed(document: object) -> Any:
    """The JSON as a reader gets it."""
    return msgspec.json.decode(msgspec.json.encode(document))


def test_scores_tell_each_node_with_reasons_or_scores() -> None:
    """Feasible nodes have points by plugin and a total, the others the scheduler's words."""
    world = cluster(node("n1"), node("n2", taints=[taint("k")]), pod("x"))
    document = printed(scores_of(SchedulerModel(columns_of(world)), "default/x"))
    assert (document["kind"], document["pod"]) == (
        "Scores",
        {"namespace": "default", "name": "x", "uid": "uid-default-x"},
    )
    good, bad = document["nodes"]
    assert set(good) == {"node", "feasible", "reasons", "scores", "total"}
    assert (good["node"], good["feasible"], good["reasons"]) == ("n1", True, [])
    assert all(0 <= points <= 100 for points in good["scores"].values())
    assert len(good["scores"]) == 7
    assert good["total"] == 300 + sum(
        {"TaintToleration": 0, "NodeAffinity": 2, "PodTopologySpread": 2, "InterPodAffinity": 2}.get(name, 1) * points
        for name, points in good["scores"].items()
    )
    assert bad == {
        "node": "n2",
        "feasible": False,
        "reasons": ["node(s) had untolerated taint(s)"],
        "scores": {},
        "total": None,
    }


def test_a_running_pod_is_scored_as_if_it_came_anew_and_nominated_pods_count() -> None:
    """Whether or not the given model counts them."""
    world = cluster(
        node("n1", cpu="1"), node("n2", cpu="1"), pod("w", "1", nominated_node="n2"), pod("x", "1", node="n1")
    )
    document = scores_of(SchedulerModel(columns_of(world)), "default/x")
    assert [one.feasible for one in document.nodes] == [True, False]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("default/web-2", 'there is no pod "default/web-2" in test; did you mean default/web-1?'),
        ("other/web-1", 'there is no pod "other/web-1" in test; the snapshot holds 1 pods'),
        ("web-1", '"web-1" names no pod; wanted NAMESPACE/NAME'),
    ],
)
def test_an_unknown_pod_is_named_with_the_nearest_one(key: str, text: str) -> None:
    """What was found, what was wanted, and where."""
    with pytest.raises(ReschedulerError) as error:
        scores_of(SchedulerModel(columns_of(cluster(node("n1"), pod("web-1")))), key)
    assert str(error.value) == text


def test_the_schedule_lists_pending_pods_in_queue_order() -> None:
    """With the node, all that tie, or the reasons with their numbers of nodes."""
    world = cluster(
        node("n1", cpu="2"),
        node("n2", cpu="2"),
        pod("big", "9"),
        pod("first", "1", priority=9),
        pod("gated", scheduling_gates=("g",), priority=-1),
    )
    document = printed(schedule_of(world))
    assert document["kind"] == "Schedule"
    assert document["pods"] == [
        {
            "pod": {"namespace": "default", "name": "first", "uid": "uid-default-first"},
            "schedulerName": "default-scheduler",
            "node": "n1",
            "bestNodes": ["n1", "n2"],
            "reasons": {},
            "warnings": [],
        },
        {
            "pod": {"namespace": "default", "name": "big", "uid": "uid-default-big"},
            "schedulerName": "default-scheduler",
            "node": None,
            "bestNodes": [],
            "reasons": {"Insufficient cpu": 2},
            "warnings": [],
        },
        {
            "pod": {"namespace": "default", "name": "gated", "uid": "uid-default-gated"},
            "schedulerName": "default-scheduler",
            "node": None,
            "bestNodes": [],
            "reasons": {},
            "warnings": ["gated by g"],
        },
    ]


def test_a_nominated_pod_goes_to_its_node_in_its_turn() -> None:
    """And keeps its place against those served before it."""
    world = cluster(
        node("n1", cpu="1"), pod("late", "1", nominated_node="n1", created_at=9.0), pod("soon", "1", created_at=1.0)
    )
    assert [(one.pod.name, one.node) for one in schedule_of(world).pods] == [("soon", None), ("late", "n1")]
