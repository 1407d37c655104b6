"""NodesAdded: new nodes, once they have stayed; not those that were there, nor those that flap."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rescheduler.model.objects.cluster import Cluster
from tests.builders import NOW, cluster, node, taint
from tests.unit.daemon.triggers.sights import firings, sight, trigger

OLD = node("old")
MOMENT = 1e-3  # what is lost where seconds since the epoch are added up


def test_nodes_of_the_start_are_not_new() -> None:
    """Nor do they wake anybody."""
    asked = trigger("NodesAdded")
    for at in (0, 100, 1000):
        assert asked.look(sight(at, OLD, node("n2"))) is None
        assert asked.wake_at(NOW + at) is None


def test_a_new_node_asks_once_it_has_settled() -> None:
    """A minute after it was first seen ready, and then no more."""
    asked = trigger("NodesAdded")
    asked.look(sight(0, OLD))
    assert asked.look(sight(10, OLD, node("n2"))) is None
    assert asked.wake_at(NOW + 10) == NOW + 70
    occasion = asked.look(sight(70, OLD, node("n2")))
    assert occasion is not None
    assert occasion.nodes == ("n2",)
    assert occasion.reason == "1 node was added: n2"
    assert asked.look(sight(71, OLD, node("n2"))) is None
    assert asked.wake_at(NOW + 71) is None


def test_nodes_that_come_one_after_the_other_are_one_round() -> None:
    """After the last of them has settled."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD))
    asked.look(sight(10, OLD, node("n2")))
    asked.look(sight(50, OLD, node("n2"), node("n3")))
    assert asked.look(sight(75, OLD, node("n2"), node("n3"))) is None
    occasion = asked.look(sight(110, OLD, node("n2"), node("n3")))
    assert occasion is not None
    assert occasion.nodes == ("n2", "n3")


def test_nodes_that_never_stop_coming_do_not_hold_it_up() -> None:
    """After six times the settle time those that have settled are enough."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD))
    fleet = []
    for at in range(10, 1000, 10):
        fleet.append(node(f"n{at:04}"))
        occasion = asked.look(sight(at, OLD, *fleet))
        if occasion is not None:
            break
    assert occasion is not None
    assert at == 10 + 360
    assert occasion.nodes[0] == "n0010"
    assert occasion.nodes[-1] == "n0310"


@pytest.mark.parametrize(
    "fields",
    [
        {"is_ready": False},
        {"is_unschedulable": True},
        {"taints": [taint("karpenter.sh/unregistered")]},
        {"taints": [taint("startup-taint.cluster-autoscaler.kubernetes.io/x")]},
        {"taints": [taint("ToBeDeletedByClusterAutoscaler")]},
        {"deletion_at": NOW},
        {"problem": "no allocatable"},
        {"labels": {"type": "virtual-kubelet"}},
    ],
    ids=lambda fields: str(next(iter(fields.values())))[:40],
)
def test_a_node_that_takes_no_pods_does_not_count(fields: dict[str, Any]) -> None:
    """Only from when it does."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD))
    for at in (10, 100, 200):
        assert asked.look(sight(at, OLD, node("n2", **fields))) is None
    assert asked.look(sight(210, OLD, node("n2"))) is None
    assert asked.look(sight(270, OLD, node("n2"))) is not None


def test_a_node_that_goes_away_before_it_has_settled_begins_anew() -> None:
    """Whether it is gone or not ready."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD))
    asked.look(sight(10, OLD, node("n2")))
    asked.look(sight(60, OLD, node("n2", is_ready=False)))
    assert asked.look(sight(75, OLD, node("n2"))) is None
    assert asked.look(sight(135, OLD, node("n2"))) is not None


def test_a_node_that_was_known_and_comes_back_is_not_new() -> None:
    """It was not ready for a while, or cordoned."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD, node("n2", is_ready=False)))
    for at in (10, 100, 200):
        assert asked.look(sight(at, OLD, node("n2"))) is None


def test_a_node_that_was_starting_at_the_start_is_new() -> None:
    """It had not come yet."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD, node("n2", taints=[taint("karpenter.sh/unregistered")], is_ready=False)))
    asked.look(sight(10, OLD, node("n2")))
    assert asked.look(sight(70, OLD, node("n2"))) is not None


def test_a_node_made_anew_under_its_old_name_is_new() -> None:
    """Another uid, another machine."""
    asked = trigger("NodesAdded", settle="60s")
    asked.look(sight(0, OLD))
    again = replace(OLD, uid="another")
    asked.look(sight(10, again))
    occasion = asked.look(sight(70, again))
    assert occasion is not None
    assert occasion.nodes == ("old",)


def test_fewer_than_asked_for_do_not_ask() -> None:
    """Until there are enough of them, however long ago the first came."""
    asked = trigger("NodesAdded", settle="60s", atLeast=2)
    asked.look(sight(0, OLD))
    asked.look(sight(10, OLD, node("n2")))
    assert asked.wake_at(NOW + 10) is None
    assert asked.look(sight(900, OLD, node("n2"))) is None
    assert asked.look(sight(1000, OLD, node("n2"), node("n3"))) is None
    assert asked.wake_at(NOW + 1000) == NOW + 1060
    assert asked.look(sight(1060, OLD, node("n2"), node("n3"))) is not None


def test_without_a_settle_time_it_asks_at_once() -> None:
    """As the node is seen."""
    asked = trigger("NodesAdded", settle="0s")
    asked.look(sight(0, OLD))
    assert asked.look(sight(10, OLD, node("n2"))) is not None


@given(st.lists(st.tuples(st.floats(1, 800), st.floats(1, 1500)), min_size=1, max_size=8))
def test_every_node_that_stays_is_told_of_exactly_once(lives: list[tuple[float, float]]) -> None:
    """Within a burst of its coming, and never two rounds at one time."""
    fleet = [(node(f"n{number}"), came, came + there) for number, (came, there) in enumerate(lives)]

    def seen(at: float) -> Cluster:
        return cluster(OLD, *(each for each, came, gone in fleet if came <= at < gone), taken_at=NOW + at)

    asked = trigger("NodesAdded", settle="60s")
    found = firings(asked, seen, 3000, [moment for _, came, gone in fleet for moment in (came, gone)])
    told = [name for _, occasion in found for name in occasion.nodes]
    assert len(told) == len(set(told))
    assert all(later - earlier >= 1 for (earlier, _), (later, _) in pairwise(found))
    for each, came, gone in fleet:
        times = [at for at, occasion in found if each.name in occasion.nodes]
        assert all(came + 60 <= at + MOMENT and at <= gone + MOMENT for at in times)
        if gone - came > 60 + 360 + 2:
            assert times
