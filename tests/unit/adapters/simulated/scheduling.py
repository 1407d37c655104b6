"""Steps that several tests of the simulated scheduler share."""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from tests.builders import NOW, cluster, pod

STRICT = SimulationSettings(pops_from_backoff=False, api_seconds=0.0, attempt_seconds=0.001, termination_seconds=0.0)


def world_of(*objects: object, settings: SimulationSettings = STRICT) -> SimulatedCluster:
    """A simulated cluster of these objects."""
    return SimulatedCluster(cluster(*objects), settings=settings)  # type: ignore[arg-type]


def node_of(world: SimulatedCluster, name: str) -> str | None:
    """Where a pod of the default namespace is."""
    standing = world.read_pod("default", name)
    assert standing is not None
    return standing.node_name


def attempts(world: SimulatedCluster, name: str) -> list[float]:
    """Seconds from the start to each failed attempt, in whole tenths."""
    found = (event for event in world.events if event.reason == "FailedScheduling" and event.pod == f"default/{name}")
    return [round(event.at - NOW, 1) for event in found]


def free_a_little(world: SimulatedCluster) -> None:
    """An event that wakes waiting pods without giving them room."""
    world.put(pod("tiny", "1m", "1Mi", node="n1", owner=None))
    world.delete_pod("default", "tiny")
    world.clock.sleep(0.01)


def finish(world: SimulatedCluster, name: str) -> None:
    """A pod ends by itself: its room is free at once."""
    standing = world.read_pod("default", name)
    assert standing is not None
    world.put(structs.replace(standing, phase="Succeeded", is_ready=False))
    world.clock.sleep(2)
