"""The disruption controller's count, by the forms that a PodDisruptionBudget can have."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.model.objects.workload import DisruptionBudget
from rescheduler.model.plan.plan import PodReference
from tests.builders import budget, cluster, node, pod, workload


def world_of(replicas: int, owner: str | None = "web", **fields: Any) -> SimulatedCluster:
    """A workload under one budget; replacements of its pods never become ready."""
    pods = [pod(f"web-{n}", "100m", node="n1", owner=owner, labels={"app": "web"}) for n in range(replicas)]
    objects = (node("n1"), node("n2"), *pods, budget("web", 1, **fields), workload("web", replicas))
    settings = SimulationSettings(startup_seconds=None, budget_lag_seconds=0.05)
    return SimulatedCluster(cluster(*objects), settings=settings)


def recounted(world: SimulatedCluster) -> DisruptionBudget:
    """The budget after one pod was evicted and its replacement stays unready."""
    assert world.evict(PodReference("default", "web-0"), "", dry_run=False).kind == "Accepted"
    world.settle()
    return world.read().budgets[0]


@pytest.mark.parametrize(
    ("replicas", "fields", "expected", "desired", "allowed"),
    [
        (5, {"min_available": "2"}, 5, 2, 2),
        (5, {"min_available": "50%"}, 5, 3, 1),
        (5, {"max_unavailable": "2"}, 5, 3, 1),
        (5, {"max_unavailable": "30%"}, 5, 3, 1),
        (5, {"max_unavailable": "1"}, 5, 4, 0),
        (5, {"min_available": "100%"}, 5, 5, 0),
        (2, {"max_unavailable": "5"}, 2, 0, 1),
    ],
)
def test_the_count_after_an_eviction(
    replicas: int, fields: dict[str, str], expected: int, desired: int, allowed: int
) -> None:
    """Percentages are rounded up; healthy pods above the desired number may be disrupted, never less than none."""
    found = recounted(world_of(replicas, **fields))
    assert found.current_healthy == replicas - 1
    assert (found.expected_pods, found.desired_healthy, found.disruptions_allowed) == (expected, desired, allowed)
    assert found.disrupted_pods == ()


def test_the_count_comes_late() -> None:
    """Right after the eviction only the handler's own booking shows; the rest follows after the lag."""
    world = world_of(5, min_available="1", generation=3, observed_generation=3, current_healthy=5)
    world.evict(PodReference("default", "web-0"), "", dry_run=False)
    assert world.read().budgets[0].current_healthy == 5
    world.clock.sleep(0.06)
    assert world.read().budgets[0].current_healthy == 4


def test_the_count_brings_the_status_up_to_date() -> None:
    """A status behind its spec is observed with the next count."""
    world = world_of(5, min_available="1", generation=3, observed_generation=2)
    world.delete_pod("default", "web-0")
    world.settle()
    assert world.read().budgets[0].observed_generation == 3


def test_pods_without_a_scalable_owner_allow_nothing_under_a_share() -> None:
    """maxUnavailable over ownerless pods: none expected, none allowed."""
    found = recounted(world_of(3, owner=None, max_unavailable="50%"))
    assert (found.expected_pods, found.disruptions_allowed) == (0, 0)


def test_a_budget_known_by_its_status_only_keeps_its_implied_floor() -> None:
    """Four healthy and one allowed means three wanted: with one pod unready nothing more is allowed."""
    found = recounted(world_of(4))
    assert (found.desired_healthy, found.disruptions_allowed) == (3, 0)


@pytest.mark.parametrize("fields", [{"max_unavailable": "ten"}, {"min_available": "-1"}, {"min_available": "1e3"}])
def test_a_share_that_cannot_be_read_allows_nothing(fields: dict[str, str]) -> None:
    """No API server would take it; a hand-made recording may hold it."""
    assert recounted(world_of(4, **fields)).disruptions_allowed == 0


def test_a_recount_mends_a_status_that_was_missing() -> None:
    """The controller writes the whole status: nothing is wrong with it any more."""
    world = world_of(4, min_available="1", problem="it has no status yet", generation=1)
    world.delete_pod("default", "web-0")
    world.settle()
    found = world.read().budgets[0]
    assert (found.problem, found.disruptions_allowed) == (None, 2)


def test_finished_pods_are_expected_but_not_healthy() -> None:
    """A pod that has ended is expected, as on a real API server, and never healthy."""
    world = world_of(3, min_available="1")
    world.put(pod("web-done", node="n1", owner="web", phase="Succeeded", is_ready=False, labels={"app": "web"}))
    world.settle()
    found = world.read().budgets[0]
    assert (found.expected_pods, found.current_healthy) == (4, 3)


def test_a_quiet_cluster_is_not_recounted() -> None:
    """A status stays as it was recorded until a pod of it changes."""
    world = world_of(4, min_available="1")
    world.clock.sleep(100)
    assert world.read().budgets[0].disruptions_allowed == 1
