"""Which nodes are emptied and which take pods: cordoned, not ready, with pods on their way out; prices of all sorts."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.objects.constraints import Taint
from rescheduler.model.plan.plan import Status
from tests import builders
from tests.unit.planning.objectives.empty_nodes.questions import emptied_names, question, violations

CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoExecute")


def test_a_cordoned_node_is_emptied_and_takes_nobody() -> None:
    """It is a source like any other, and never a target, however much room it has."""
    cluster = builders.cluster(
        builders.node("a", cpu="16", is_unschedulable=True, taints=[CORDON]),
        builders.node("b"),
        builders.node("c"),
        *(builders.pod(f"web-{name}", node=name) for name in "abc"),
    )
    request = question(cluster)
    names, answer = emptied_names(request)
    assert len(names) == 2
    assert "a" in names
    assert "a" not in {cluster.nodes[move.to_node].name for move in answer.moves}
    assert violations(request, answer) == []


def test_a_node_that_is_not_ready_takes_nobody() -> None:
    """Pods do not tolerate it, so that only the other nodes count as room."""
    cluster = builders.cluster(
        builders.node("a", cpu="16", taints=[NOT_READY]),
        builders.node("b"),
        builders.pod("web-b", node="b"),
    )
    names, answer = emptied_names(question(cluster))
    assert names == []
    assert (answer.value, answer.bound) == (0, 0)


def test_a_terminating_pod_keeps_its_room_and_its_node() -> None:
    """Until it is gone nobody gets its room, and its node is not empty."""
    leaving = builders.pod("old-1", cpu="3", node="b", deletion_at=builders.NOW)
    cluster = builders.cluster(
        builders.node("a"), builders.node("b"), builders.pod("web-1", cpu="2", node="a"), leaving
    )
    names, answer = emptied_names(question(cluster, fixed=("old-1",)))
    assert names == []
    assert answer.bound == 0
    assert [refusal.node for refusal in answer.refusals] == ["b"]


@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0, 1e9])
def test_prices_of_any_size_choose_the_same_nodes(scale: float) -> None:
    """Only the proportions of prices matter; the proof holds for all of them."""
    pods = [builders.pod(f"web-{name}", cpu="3", node=name) for name in "abc"]
    cluster = builders.cluster(
        *(builders.node(name) for name in "abc"), builders.node("d"), *pods, builders.pod("x", node="d")
    )
    price = np.array([1.0, 2.5, 1.75, 0.5]) * scale
    names, answer = emptied_names(question(cluster, price=price, fixed=("x",)))
    assert names == ["b"]
    assert answer.value == pytest.approx(2.5 * scale)
    assert answer.status is Status.OPTIMAL


def test_a_node_without_a_price_is_not_worth_a_move() -> None:
    """Nodes of price 0 stay in use, and take pods even if they are empty."""
    cluster = builders.cluster(
        builders.node("a"),
        builders.node("b"),
        builders.node("c"),
        *(builders.pod(f"web-{n}", cpu="3", node=n) for n in "ab"),
    )
    names, answer = emptied_names(question(cluster, price=np.array([1.0, 0.0, 0.0])))
    assert names == ["a"]
    assert [cluster.nodes[move.to_node].name for move in answer.moves] == ["c"]
    nothing = emptied_names(question(cluster, price=np.zeros(3)))[1]
    assert (nothing.value, nothing.bound, nothing.moves) == (0, 0, ())


def test_equal_prices_are_as_good_as_none() -> None:
    """Whatever each node costs, if all cost the same the same nodes go."""
    pods = [builders.pod(f"web-{number}", node=name) for number, name in enumerate("aabbbc")]
    cluster = builders.cluster(*(builders.node(name) for name in "abc"), *pods)
    plain, priced = (emptied_names(question(cluster, price=price)) for price in (None, np.full(3, 73.0)))
    assert plain[0] == priced[0]
    assert priced[1].value == 73.0 * plain[1].value
