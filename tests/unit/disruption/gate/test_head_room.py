"""Tests of head-room: what is free once a plan is done."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.gate.health import lacking_head_room
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, PlannedPlacement, PodReference
from rescheduler.policy.fields.daemon.safety import Health
from tests.builders import NOW, cluster, node, pod


def move(name: str, from_node: str, to_node: str, objective: str = "EmptyNodes") -> Move:
    """A move of a pod by name."""
    return Move(PodReference("default", name, f"uid-default-{name}"), from_node, to_node, 1, objective, "room")


def place(name: str, target: str) -> PlannedPlacement:
    """A pending pod that gets a place."""
    return PlannedPlacement(PodReference("default", name, f"uid-default-{name}"), target, 1)


def message(seen: Cluster, *moves: Move, placements: Any = (), **rules: Any) -> str | None:
    """What is told."""
    found = lacking_head_room(seen, moves, placements, Health(**rules))
    return None if found is None else str(found)


def full(used: str, *more: Any, **fields: Any) -> Cluster:
    """A node of 100 cpu with so much used, and memory enough."""
    return cluster(node("n1", cpu="100", memory="1Ti"), pod("web-1", cpu=used, node="n1", **fields), *more)


def test_five_percent_have_to_stay_free() -> None:
    """Of the scarcer of cpu and memory."""
    assert message(full("95")) is None
    assert message(full("96")) == "4.0% of cpu stays free, less than the 5% to be kept (policy: health.headRoom)"
    seen = cluster(node("n1", cpu="100", memory="100Gi"), pod("web-1", cpu="96", memory="99Gi", node="n1"))
    assert message(seen) == "1.0% of memory stays free, less than the 5% to be kept (policy: health.headRoom)"
    assert message(full("50"), head_room=0.5) is None
    assert message(full("96"), head_room=0.0) is None
    assert message(full("99"), head_room=0.125) == (
        "1.0% of cpu stays free, less than the 12.5% to be kept (policy: health.headRoom)"
    )


def test_more_than_there_is_leaves_nothing() -> None:
    """Requests may exceed what nodes offer in a recording."""
    assert (message(full("120")) or "").startswith("0.0% of cpu stays free")


@pytest.mark.parametrize("fields", [{"phase": "Failed"}, {"deletion_at": NOW}, {"held": (("cpu", 1000),)}])
def test_pods_count_by_what_they_hold(fields: dict[str, Any]) -> None:
    """Finished and terminating ones nothing; one that was resized what it holds."""
    assert message(full("99", **fields)) is None


@pytest.mark.parametrize(
    "fields",
    [{"is_ready": False}, {"is_unschedulable": True}, {"problem": "x"}, {"deletion_at": NOW},
     {"labels": {"type": "virtual-kubelet"}}],
)  # fmt: skip
def test_nodes_that_take_no_pods_offer_nothing(fields: dict[str, Any]) -> None:
    """Room there is none."""
    assert message(full("99", node("n2", cpu="100", memory="1Ti"))) is None
    assert message(full("99", node("n2", cpu="100", memory="1Ti", **fields))) is not None


def test_a_cluster_without_room_of_any_kind_is_not_judged() -> None:
    """No node takes pods, so nothing can be said."""
    assert message(cluster(node("n1", is_ready=False))) is None


def test_placed_pods_take_room() -> None:
    """Pending ones that get no place do not."""
    seen = full("94", pod("big-1", cpu="2"), pod("big-2", cpu="90"))
    assert message(seen) is None
    assert (message(seen, placements=[place("big-1", "n1")]) or "").startswith("4.0% of cpu")


class TestEmptiedNodes:
    """Nodes that EmptyNodes empties are on their way out."""

    def seen(self, *more: Any) -> Cluster:
        """Two nodes; the pods of both fit on one, with 4 % to spare."""
        pods = [pod("a-1", cpu="48", node="n1"), pod("b-1", cpu="48", node="n2")]
        return cluster(*(node(f"n{n}", cpu="100", memory="1Ti") for n in (1, 2)), *pods, *more)

    def test_their_room_does_not_count(self) -> None:
        """The node keeps its DaemonSet's pods, and is empty all the same."""
        assert message(self.seen()) is None
        assert (message(self.seen(), move("a-1", "n1", "n2")) or "").startswith("4.0% of cpu")
        daemon = pod("ds-1", cpu="1", node="n1", kind="DaemonSet")
        assert message(self.seen(daemon), move("a-1", "n1", "n2")) is not None

    def test_a_node_that_keeps_a_pod_stays(self) -> None:
        """Or one that gets another, or that another objective has emptied by chance."""
        assert message(self.seen(pod("c-1", cpu="1", node="n1")), move("a-1", "n1", "n2")) is None
        assert message(self.seen(), move("a-1", "n1", "n2"), move("b-1", "n2", "n1")) is None
        assert message(self.seen(), move("a-1", "n1", "n2", "MakeRoom")) is None

    def test_a_node_that_is_emptied_and_filled_again_stays(self) -> None:
        """Its own pod leaves, and another comes: only the third node goes."""
        seen = self.seen(node("n3", cpu="100", memory="1Ti"), pod("c-1", cpu="48", node="n3"))
        assert message(seen, move("a-1", "n1", "n2"), move("c-1", "n3", "n1")) is None
        assert message(seen, move("a-1", "n1", "n2"), move("c-1", "n3", "n1"), head_room=0.3) is not None
