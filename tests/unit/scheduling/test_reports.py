"""What ``score`` and ``schedule`` print, key by key."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns import columns_of
from rescheduler.scheduling.reports import schedule_of, scores_of
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, taint


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
