"""Placeholders: what they keep away, for how long, and what is left of them."""

from __future__ import annotations

import pytest

from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import Resources
from rescheduler.model.objects.workload import PriorityClass
from tests.builders import cluster, node, pod

TWO_CORES: Resources = (("cpu", 2000), ("memory", 2**30))
CLASSES = (PriorityClass("high", 1000), PriorityClass("low", -10))


def request(name: str = "a", target: str = "n1", priority_class: str = "", deadline: int = 60) -> HoldRequest:
    """A placeholder of two cores."""
    return HoldRequest(name, target, TWO_CORES, priority_class, "default-scheduler", deadline, "plan-1")


def one_node() -> Cluster:
    """A node of 4 cores with 2 free."""
    return cluster(node("n1", "4"), pod("web-0", "2", node="n1"), priority_classes=CLASSES)


def arrive(world: SimulatedCluster, priority: int) -> str | None:
    """Where a new pod of one core and this priority is put within a second."""
    world.put(pod("new", "1", owner=None, priority=priority))
    world.clock.sleep(1)
    standing = world.read_pod("default", "new")
    assert standing is not None
    return standing.node_name


@pytest.mark.parametrize(("priority", "expected"), [(-5, None), (0, None), (1, "n1")])
def test_a_hold_binds_equal_and_lower_priority_only(priority: int, expected: str | None) -> None:
    """A pod of higher priority takes the room; the hold stands."""
    world = SimulatedCluster(one_node())
    world.hold([request()])
    assert arrive(world, priority) == expected
    assert world.leftovers() == ["a"]


def test_a_hold_has_the_priority_of_its_class() -> None:
    """A class of high value keeps out what a hold without a class would not."""
    world = SimulatedCluster(one_node())
    world.hold([request(priority_class="high")])
    assert arrive(world, 1000) is None


def test_a_class_that_only_pods_carry_is_known_too() -> None:
    """A recording without PriorityClasses still tells the value."""
    vip = pod("vip-0", "1", node="n1", priority=500, priority_class_name="vip")
    world = SimulatedCluster(cluster(node("n1"), vip))
    world.hold([request(priority_class="vip")])
    assert {item.spec.priority for item in world.read().pending_pods} == {500}


def test_an_unknown_class_is_refused_by_name() -> None:
    """As admission does; nothing is made."""
    world = SimulatedCluster(one_node())
    with pytest.raises(ClusterError, match="no PriorityClass with name nonsense"):
        world.hold([request(priority_class="nonsense")])
    assert world.leftovers() == []
    assert len(world.read().pods) == 1


def test_a_name_in_use_is_refused() -> None:
    """Two placeholders cannot have one name."""
    world = SimulatedCluster(one_node())
    world.hold([request()])
    with pytest.raises(ClusterError, match='"a" already exists'):
        world.hold([request()])


def test_a_placeholder_is_gated_nominated_and_labelled() -> None:
    """What a snapshot shows of it: pending for good, on nobody's node, ours."""
    world = SimulatedCluster(one_node())
    world.hold([request()])
    world.clock.sleep(30)
    (placeholder,) = world.read().pending_pods
    assert placeholder.scheduling_gates
    assert placeholder.nominated_node == "n1"
    assert placeholder.labels[MANAGED_BY] == OURS
    assert placeholder.spec.requests == TWO_CORES


def test_a_hold_vanishes_at_its_deadline() -> None:
    """Nobody needs to release it: the waiting pod gets the room then."""
    world = SimulatedCluster(one_node())
    world.hold([request(deadline=20)])
    assert arrive(world, 0) is None
    world.clock.sleep(18.5)
    assert world.leftovers() == ["a"]
    world.clock.sleep(12)
    assert world.leftovers() == []
    assert world.read_pod("default", "new").node_name == "n1"  # type: ignore[union-attr]


def test_renewing_counts_the_deadline_from_now() -> None:
    """A renewed hold outlives its first deadline; one that is gone is named."""
    world = SimulatedCluster(one_node())
    world.hold([request(deadline=20)])
    world.clock.sleep(15)
    assert world.renew([request(deadline=20), request("b")]) == ["b"]
    world.clock.sleep(19)
    assert world.leftovers() == ["a"]
    world.clock.sleep(2)
    assert world.leftovers() == []


def test_releasing_leaves_nothing_and_forgives_unknown_names() -> None:
    """The pod is gone with its Job, and the name may be used again without the old deadline."""
    world = SimulatedCluster(one_node())
    world.hold([request(deadline=20)])
    world.release(["a", "never-made"])
    assert world.leftovers() == []
    assert not world.read().pending_pods
    world.clock.sleep(10)
    world.hold([request(deadline=20)])
    world.clock.sleep(15)
    assert world.leftovers() == ["a"]


def test_two_holds_on_one_hole_both_count() -> None:
    """Neither leaves room for the other's pod."""
    world = SimulatedCluster(cluster(node("n1", "4")))
    world.hold([request("a"), request("b")])
    assert arrive(world, 0) is None


def test_a_hold_on_an_unknown_node_holds_nothing() -> None:
    """It stands, and hinders nobody."""
    world = SimulatedCluster(one_node())
    world.hold([request(target="no-such-node")])
    assert arrive(world, 0) == "n1"
