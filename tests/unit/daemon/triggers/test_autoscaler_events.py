"""AutoscalerEvents: what asks for a round, what does not, and how often."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from rescheduler.model.daemon.rounds import AutoscalerNotice
from tests.builders import NOW, node, pod
from tests.unit.daemon.triggers.sights import report, sight, trigger

PENDING = pod("web-1")
RUNNING = pod("api-1", node="n1")
WORLD = (node("n1"), PENDING, RUNNING)


def said(reason: str, at: float = 0.0, kind: str = "Pod", name: str = "web-1", namespace: str = "default") -> Any:
    """What an autoscaler says."""
    return AutoscalerNotice(NOW + at, "cluster-autoscaler", reason, kind, namespace, name)


def test_no_node_for_a_pod_asks_for_that_pod() -> None:
    """After five seconds in which more may be said."""
    asked = trigger("AutoscalerEvents")
    assert asked.look(sight(1, *WORLD, notices=[said("NotTriggerScaleUp")])) is None
    assert asked.wake_at(NOW + 1) == NOW + 5
    occasion = asked.look(sight(5, *WORLD))
    assert occasion is not None
    assert [reference.name for reference in occasion.pods] == ["web-1"]
    assert occasion.reason == "cluster-autoscaler says NotTriggerScaleUp of Pod default/web-1"
    assert asked.look(sight(6, *WORLD)) is None
    assert asked.wake_at(NOW + 6) is None


def test_what_announces_a_node_is_waited_for() -> None:
    """The node itself will tell when it is there."""
    asked = trigger("AutoscalerEvents")
    for reason in ("TriggeredScaleUp", "ScaledUpGroup", "Nominated", "DisruptionLaunching", "anything"):
        assert asked.look(sight(100, *WORLD, notices=[said(reason)])) is None
    assert asked.wake_at(NOW + 100) is None


@pytest.mark.parametrize(
    ("notice", "nodes"),
    [
        (said("ScaleDown", kind="Node", name="n7", namespace=""), ("n7",)),
        (said("ScaleDownEmpty", kind="ConfigMap", name="cluster-autoscaler-status", namespace="kube-system"), ()),
        (said("FailedToScaleUpGroup", kind="ConfigMap", name="status", namespace="kube-system"), ()),
        (said("ScaleUpTimedOut", kind="ConfigMap", name="status", namespace="kube-system"), ()),
        (said("DisruptionTerminating", kind="NodeClaim", name="default-x7", namespace=""), ()),
        (said("InsufficientCapacityError", kind="NodeClaim", name="default-x7", namespace=""), ()),
    ],
    ids=lambda value: value.reason if isinstance(value, AutoscalerNotice) else "",
)
def test_nodes_that_go_or_do_not_come_ask(notice: AutoscalerNotice, nodes: tuple[str, ...]) -> None:
    """Of either autoscaler, about whatever object."""
    occasion = trigger("AutoscalerEvents").look(sight(10, *WORLD, notices=[notice]))
    assert occasion is not None
    assert occasion.nodes == nodes


@pytest.mark.parametrize("name", ["api-1", "gone-1", "ours-1", "gated-1", "nominated-1"])
def test_a_pod_that_does_not_wait_any_more_does_not_ask(name: str) -> None:
    """It runs, it is gone, it is a placeholder of ours, it is gated, or room is being made for it."""
    others = (
        pod("ours-1", labels={"app.kubernetes.io/managed-by": "rescheduler"}),
        pod("gated-1", scheduling_gates=("x",)),
        pod("nominated-1", nominated_node="n1"),
    )
    asked = trigger("AutoscalerEvents")
    assert asked.look(sight(10, *WORLD, *others, notices=[said("NotTriggerScaleUp", name=name)])) is None


def test_what_is_said_many_times_asks_more_and_more_seldom() -> None:
    """The autoscaler repeats itself every ten seconds."""
    asked = trigger("AutoscalerEvents")
    times = []
    for at in range(0, 1000, 10):
        if asked.look(sight(at, *WORLD, notices=[said("NotTriggerScaleUp", at - 5)])) is not None:
            times.append(at)
            asked.answered(report(at, at))
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert waits == [70, 130, 250, 490]


def test_what_is_said_once_asks_once() -> None:
    """However long the pod waits."""
    asked = trigger("AutoscalerEvents")
    assert asked.look(sight(10, *WORLD, notices=[said("NotTriggerScaleUp")])) is not None
    assert all(asked.look(sight(at, *WORLD)) is None for at in range(20, 7200, 60))


def test_what_was_said_before_a_round_is_dealt_with_by_it() -> None:
    """Whoever asked for that round."""
    asked = trigger("AutoscalerEvents")
    assert asked.look(sight(1, *WORLD, notices=[said("NotTriggerScaleUp", 1)])) is None
    asked.answered(report(2, 3))
    assert all(asked.look(sight(at, *WORLD)) is None for at in range(4, 500))


def test_what_was_said_during_a_round_asks_after_it() -> None:
    """The round did not know of it."""
    asked = trigger("AutoscalerEvents")
    assert asked.look(sight(3, *WORLD, notices=[said("NotTriggerScaleUp", 2.5)])) is None
    asked.answered(report(2, 3))
    assert asked.look(sight(8, *WORLD)) is not None


def test_old_news_are_no_news() -> None:
    """Said more than an hour ago, before the daemon was started perhaps."""
    asked = trigger("AutoscalerEvents")
    assert asked.look(sight(10, *WORLD, notices=[said("ScaleDown", -3700, "Node", "n7", "")])) is None


def test_a_policy_may_choose_the_reasons() -> None:
    """Only those then."""
    asked = trigger("AutoscalerEvents", on=["DisruptionBlocked"])
    assert asked.look(sight(10, *WORLD, notices=[said("NotTriggerScaleUp")])) is None
    assert asked.look(sight(10, *WORLD, notices=[said("DisruptionBlocked", kind="Node", name="n1")])) is not None
