"""The simulated scheduler: order, back-off, ties, and what a look at the cluster sees."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from tests.builders import NOW, cluster, node, pod
from tests.unit.adapters.simulated.scheduling import STRICT, attempts, finish, free_a_little, node_of, world_of


def test_a_pod_that_fits_is_bound_and_becomes_ready() -> None:
    """Pending, bound, running, ready."""
    world = world_of(node("n1"), pod("a", owner=None))
    world.clock.sleep(0.01)
    assert node_of(world, "a") == "n1"
    assert not world.read().pods[0].is_ready
    world.settle()
    assert (world.read().pods[0].phase, world.read().pods[0].is_ready) == ("Running", True)


def test_higher_priority_then_age_decides() -> None:
    """Of three pods for one place the highest priority gets it; of equals the oldest."""
    late = pod("late", "4", owner=None, created_at=NOW - 10)
    early = pod("z-early", "4", owner=None, created_at=NOW - 20)
    high = pod("high", "4", owner=None, priority=5, created_at=NOW)
    world = world_of(node("n1"), late, early)
    world.settle()
    assert node_of(world, "z-early") == "n1"
    world = world_of(node("n1"), late, early, high)
    world.settle()
    assert node_of(world, "high") == "n1"


def test_back_off_doubles_up_to_ten_seconds() -> None:
    """Woken at every tenth of a second, a pod is tried after 1, 2, 4, 8, 10 and 10 seconds."""
    world = world_of(node("n1"), pod("big", "9", owner=None))
    for _ in range(360):
        world.clock.sleep(0.09)
        free_a_little(world)
    assert attempts(world, "big")[:7] == pytest.approx([0, 1, 3, 7, 15, 25, 35], abs=0.5)


def test_a_pod_that_was_tried_in_vain_says_so_since_the_first_time() -> None:
    """As its condition does on a real cluster; one that is not tried says nothing, and one that is bound has a node."""
    gated = pod("gated", owner=None, scheduling_gates=("wait",))
    world = world_of(node("n1"), pod("big", "5", owner=None), gated)
    began = world.clock.now()
    world.clock.sleep(400)
    big, other = (world.read().pod_by_key[f"default/{name}"] for name in ("big", "gated"))
    assert len(attempts(world, "big")) > 1
    assert (big.unscheduled, big.unscheduled_at) == ("Unschedulable", pytest.approx(began, abs=0.1))
    assert (other.unscheduled, other.unscheduled_at) == ("", None)
    world.put(node("n2", "8"))
    world.settle()
    bound = world.read().pod_by_key["default/big"]
    assert (bound.node_name, bound.unscheduled, bound.unscheduled_at) == ("n2", "", None)


def test_without_an_event_a_pod_is_tried_again_after_five_minutes() -> None:
    """Waiting pods are flushed, as kube-scheduler does."""
    world = world_of(node("n1"), pod("big", "9", owner=None))
    world.clock.sleep(299)
    assert attempts(world, "big") == [0.0]
    world.clock.sleep(2)
    assert attempts(world, "big") == [0.0, 300.0]


def test_an_idle_scheduler_does_not_wait_for_the_back_off() -> None:
    """With the newer queue a woken pod is tried at once when no other is ready."""
    world = world_of(node("n1"), pod("big", "9", owner=None), settings=strict_but(pops_from_backoff=True))
    world.clock.sleep(0.1)
    free_a_little(world)
    assert attempts(world, "big") == [0.0, 0.1]


def strict_but(**fields: bool) -> SimulationSettings:
    """The strict settings with some changed."""
    return SimulationSettings(**{**STRICT.__dict__, **fields})


def test_a_gone_pod_and_a_new_node_wake_those_that_wait() -> None:
    """Both free room, and the pod lands when its back-off is over."""
    world = world_of(node("n1"), pod("here", "3", node="n1", owner=None), pod("big", "2", owner=None))
    world.clock.sleep(2)
    world.delete_pod("default", "here")
    world.clock.sleep(0.01)
    assert node_of(world, "big") == "n1"
    world = world_of(node("n1", "1"), pod("big", "2", owner=None))
    world.clock.sleep(2)
    world.put(node("n2", "4"))
    world.clock.sleep(0.01)
    assert node_of(world, "big") == "n2"


def test_a_terminating_pod_holds_its_room_until_it_is_gone() -> None:
    """The place is free at the end of the deletion, not at its beginning."""
    settings = SimulationSettings(termination_seconds=5.0, startup_seconds=0.0)
    here = pod("here", "4", node="n1", owner=None)
    world = world_of(node("n1"), here, pod("big", "4", owner=None), settings=settings)
    world.delete_pod("default", "here")
    world.clock.sleep(4)
    assert node_of(world, "big") is None
    world.settle()
    assert node_of(world, "big") == "n1"


def test_a_pod_that_grew_in_place_holds_the_more() -> None:
    """A resize of a running pod leaves less room to a pod that was tried before."""
    here, leaving = pod("here", "1", node="n1", owner=None), pod("leaving", "1", node="n1", owner=None)
    world = world_of(node("n1"), here, leaving, pod("waiting", "3", owner=None))
    world.clock.sleep(2)
    world.put(structs.replace(here, held=(("cpu", 3000),)))
    finish(world, "leaving")
    assert len(attempts(world, "waiting")) == 2
    assert node_of(world, "waiting") is None


def test_a_waiting_pod_that_shrank_is_tried_as_it_is_now() -> None:
    """What was too large at the first attempt fits at the second."""
    large = pod("a", "9", owner=None)
    world = world_of(node("n1"), pod("tiny", "1m", node="n1", owner=None), large)
    world.clock.sleep(2)
    world.put(structs.replace(large, spec=pod("a", "1").spec))
    finish(world, "tiny")
    assert node_of(world, "a") == "n1"


def test_a_pod_deleted_while_it_starts_never_becomes_ready() -> None:
    """Its end comes first."""
    settings = SimulationSettings(termination_seconds=5.0, startup_seconds=2.0)
    world = world_of(node("n1"), pod("a", owner=None), settings=settings)
    world.clock.sleep(1)
    world.delete_pod("default", "a")
    world.clock.sleep(3)
    assert not world.read().pods[0].is_ready
    world.settle()
    assert not world.read().pods


def test_pods_of_another_scheduler_are_left_alone() -> None:
    """They stay pending, and no attempt is made."""
    world = world_of(node("n1"), pod("a", owner=None, scheduler_name="volcano"))
    world.clock.sleep(10)
    assert node_of(world, "a") is None
    assert not world.events


def test_nobody_is_preempted() -> None:
    """A pod of high priority waits like any other; the report says what the real scheduler would look for."""
    world = world_of(node("n1"), pod("low", "4", node="n1", owner=None), pod("vip", "4", owner=None, priority=10))
    world.settle()
    assert node_of(world, "vip") is None
    assert node_of(world, "low") == "n1"
    assert "preempt" in next(event.message for event in world.events if event.pod == "default/vip")


def test_a_bound_pod_wakes_those_that_want_company() -> None:
    """A pod with affinity is tried again when another pod is bound."""
    term = PodAffinityTerm("kubernetes.io/hostname")
    world = world_of(node("n1"), pod("shy", "9", owner=None, affinity=(term,)))
    world.clock.sleep(5)
    world.put(pod("friend", owner=None))
    world.clock.sleep(0.1)
    assert attempts(world, "shy") == [0.0, 5.0]


def test_ties_are_drawn_by_the_seed() -> None:
    """Among equal nodes different seeds choose differently, equal seeds alike."""

    def lands(seed: int) -> str | None:
        objects = (*(node(f"n{number}") for number in range(8)), pod("a", owner=None))
        world = SimulatedCluster(cluster(*objects), seed=seed)
        world.settle()
        return node_of(world, "a")

    chosen = [lands(seed) for seed in range(12)]
    assert len(set(chosen)) > 2
    assert chosen == [lands(seed) for seed in range(12)]


def test_a_tie_is_remembered_with_all_its_nodes_and_a_clear_winner_is_none() -> None:
    """The node that was drawn is among them."""
    world = world_of(node("n1"), node("n2"), node("small", "1"), pod("a", "2", owner=None))
    world.settle()
    assert sorted(world.ties["default/a"]) == ["n1", "n2"]
    assert node_of(world, "a") in world.ties["default/a"]
    world.put(pod("b", "2", owner=None))
    world.settle()
    assert "default/b" not in world.ties


def test_nodes_that_close_or_leave_get_nothing() -> None:
    """A cordon and a removal are seen by the next attempt."""
    world = world_of(node("n1"), node("n2"))
    world.put(node("n1", is_unschedulable=True))
    world.put(pod("a", owner=None))
    world.clock.sleep(0.1)
    assert node_of(world, "a") == "n2"
    world.remove_node("n2")
    world.put(pod("b", owner=None))
    world.clock.sleep(0.1)
    assert node_of(world, "b") is None
