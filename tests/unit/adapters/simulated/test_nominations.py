"""Nominations and gates in the simulated scheduler."""

from __future__ import annotations

from msgspec import structs

from rescheduler.extension_points import HoldRequest
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW, node, pod
from tests.unit.adapters.simulated.scheduling import attempts, finish, free_a_little, node_of, world_of


def test_the_nominated_node_is_tried_before_better_ones() -> None:
    """An emptier node would win the score; the nomination wins over it and ends with the binding."""
    world = world_of(node("n1"), node("n2"), pod("here", "2", node="n1", owner=None), pod("a", "9", owner=None))
    world.clock.sleep(0.1)
    waiting = world.read().pod_by_key["default/a"]
    assert world.nominate(PodReference("default", "a", waiting.uid), "n1")
    small = structs.replace(world.read().pod_by_key["default/a"], spec=pod("a", "1").spec)
    world.put(small)
    world.clock.sleep(2)
    free_a_little(world)
    world.clock.sleep(2)
    assert node_of(world, "a") == "n1"
    assert world.read().pod_by_key["default/a"].nominated_node is None


def test_a_failed_attempt_clears_the_nomination() -> None:
    """An ungated pod that cannot be placed anywhere gives its nomination up."""
    world = world_of(node("n1"), pod("a", "9", owner=None))
    world.clock.sleep(0.1)
    world.nominate(PodReference("default", "a"), "n1")
    assert world.read().pods[0].nominated_node == "n1"
    world.clock.sleep(2)
    free_a_little(world)
    world.clock.sleep(20)
    assert world.read().pod_by_key["default/a"].nominated_node is None
    assert len(attempts(world, "a")) == 2, "giving the nomination up does not wake the pod itself"


def test_a_gated_pod_is_never_tried_and_keeps_its_nomination() -> None:
    """It waits for its gate; once that is gone it lands on the node it was nominated to."""
    gated = pod("a", owner=None, scheduling_gates=("example.com/wait",), nominated_node="n1")
    world = world_of(node("n1"), node("n2"), pod("here", "1", node="n1", owner=None), gated)
    world.clock.sleep(400)
    assert world.read().pod_by_key["default/a"].nominated_node == "n1"
    world.put(structs.replace(gated, scheduling_gates=()))
    world.clock.sleep(0.1)
    assert node_of(world, "a") == "n1"


def test_a_nomination_keeps_the_room_from_a_pod_that_is_tried_first() -> None:
    """An older pod of equal priority would take the freed room; it goes to the nominated one."""
    here = pod("here", "3", node="n1", owner=None)
    older = pod("older", "2", owner=None, created_at=NOW - 100)
    big = pod("big", "3", owner=None, created_at=NOW - 50)
    world = world_of(node("n1"), here, older, big)
    world.clock.sleep(2)
    world.nominate(PodReference("default", "big"), "n1")
    finish(world, "here")
    assert node_of(world, "older") is None
    assert node_of(world, "big") == "n1"


def test_the_end_of_a_hold_does_not_wake_those_it_never_hindered() -> None:
    """A pod of higher priority is not tried again when a hold of none is released; one of equal priority is."""
    world = world_of(node("n1"), pod("vip", "9", owner=None, priority=5), pod("equal", "9", owner=None))
    world.clock.sleep(2)
    world.hold([HoldRequest("h", "n1", (("cpu", 1000),), "", "default-scheduler", 60, "plan-1")])
    world.release(["h"])
    world.clock.sleep(1)
    assert len(attempts(world, "vip")) == 1
    assert len(attempts(world, "equal")) == 2


def test_a_pod_that_left_its_nominated_node_holds_nothing_there() -> None:
    """A nomination ends with the binding: what comes after the pod is gone finds the whole room."""
    nominated = pod("a", "3", owner=None, nominated_node="n1", scheduling_gates=("example.com/wait",))
    world = world_of(node("n1"), nominated, pod("other", "99", owner=None))
    world.clock.sleep(1)
    world.put(structs.replace(world.read().pod_by_key["default/a"], scheduling_gates=()))
    world.clock.sleep(0.1)
    assert node_of(world, "a") == "n1"
    world.delete_pod("default", "a")
    world.settle()
    world.put(pod("b", "4", owner=None))
    world.clock.sleep(0.1)
    assert node_of(world, "b") == "n1"
