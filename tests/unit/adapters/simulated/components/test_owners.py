"""The controllers: who makes a replacement, when, and under which name."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, selector, workload

SETTINGS = SimulationSettings(termination_seconds=5.0, startup_seconds=2.0)


def world_of(*objects: object) -> SimulatedCluster:
    """Two empty nodes and these objects."""
    return SimulatedCluster(cluster(node("n1"), node("n2"), *objects), settings=SETTINGS)  # type: ignore[arg-type]


def evict(world: SimulatedCluster, name: str) -> None:
    """Evict a pod of the default namespace."""
    assert world.evict(PodReference("default", name), "", dry_run=False).kind == "Accepted"


def names(world: SimulatedCluster) -> list[str]:
    """Names of all pods."""
    return [item.name for item in world.read().pods]


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "Job", "CloneSet"])
def test_a_replacement_is_made_while_the_old_pod_still_holds_its_room(kind: str) -> None:
    """New name and uid as soon as the deletion has begun; bound and ready later."""
    world = world_of(pod("web-0", node="n1", owner="web", kind=kind), workload("web", 1, kind=kind))
    evict(world, "web-0")
    world.clock.sleep(0.1)
    old, new = sorted(world.read().pods, key=lambda item: item.is_terminating, reverse=True)
    assert old.is_terminating
    assert new.name.startswith("web-")
    assert (new.name, new.uid) != (old.name, old.uid)
    assert new.node_name == "n2", "n1 still holds the old pod"
    world.clock.sleep(6)
    assert names(world) == [new.name]
    assert world.read().pods[0].is_ready


def test_an_owner_that_is_not_in_the_recording_keeps_its_number_of_pods() -> None:
    """A pod whose controller is known by reference only is recreated."""
    world = world_of(pod("web-0", node="n1", owner="web"))
    evict(world, "web-0")
    world.settle()
    assert len(names(world)) == 1


def test_a_stateful_set_waits_for_the_name() -> None:
    """The same name, another uid, and only after the old pod is gone."""
    world = world_of(pod("db-0", node="n1", owner="db", kind="StatefulSet"), workload("db", 1, kind="StatefulSet"))
    old = world.read().pods[0]
    evict(world, "db-0")
    world.clock.sleep(4.9)
    assert [item.uid for item in world.read().pods] == [old.uid]
    world.settle()
    assert names(world) == ["db-0"]
    assert world.read().pods[0].uid != old.uid


def test_a_daemon_set_puts_its_pod_on_the_same_node() -> None:
    """Even where another node is emptier."""
    busy = pod("busy-0", "2", node="n1", owner="busy")
    world = world_of(pod("agent-0", node="n1", owner="agent", kind="DaemonSet"), busy, workload("busy", 1))
    evict(world, "agent-0")
    world.settle()
    agent = next(item for item in world.read().pods if item.name.startswith("agent-"))
    assert agent.node_name == "n1"
    assert agent.is_ready


def test_a_pod_without_an_owner_is_gone_for_good() -> None:
    """Nobody makes another."""
    world = world_of(pod("lonely", node="n1", owner=None))
    evict(world, "lonely")
    world.settle()
    assert names(world) == []


def test_a_pod_of_two_controllers_is_not_recreated() -> None:
    """An unclear owner is no owner."""
    owners = (OwnerReference("ReplicaSet", "a", "uid-a"), OwnerReference("ReplicaSet", "b", "uid-b"))
    world = world_of(pod("twin-0", node="n1", owners=owners))
    evict(world, "twin-0")
    world.settle()
    assert names(world) == []


def test_an_owner_that_wants_fewer_pods_makes_none() -> None:
    """Scaled down meanwhile: the surplus pod is not replaced."""
    pods = [pod(f"web-{number}", node="n1", owner="web") for number in range(2)]
    world = world_of(*pods, workload("web", 1))
    evict(world, "web-0")
    world.settle()
    assert names(world) == ["web-1"]


def test_a_terminating_owner_makes_none() -> None:
    """A workload on its way out does not recreate."""
    world = world_of(pod("web-0", node="n1", owner="web"), workload("web", 1, is_terminating=True))
    evict(world, "web-0")
    world.settle()
    assert names(world) == []


def test_a_pod_that_changes_its_owner_counts_with_the_new_one() -> None:
    """An orphan that another controller adopts is that one's from then on."""
    adopted = pod("web-0", node="n1", owner="web")
    world = world_of(adopted, workload("web", 1), workload("other", 1, selector=selector(app="web")))
    reference = OwnerReference("ReplicaSet", "other", "uid-default-other")
    world.put(structs.replace(adopted, owners=(reference,)))
    evict(world, "web-0")
    world.settle()
    assert [item.owners for item in world.read().pods] == [(reference,)]


def test_two_evictions_bring_two_replacements() -> None:
    """As many as the owner wants, no more."""
    pods = [pod(f"web-{number}", node="n1", owner="web") for number in range(3)]
    world = world_of(*pods, workload("web", 3))
    evict(world, "web-0")
    evict(world, "web-1")
    world.settle()
    assert len(names(world)) == 3
    assert all(item.is_ready for item in world.read().pods)


def test_ready_replicas_follow_up_to_the_deployment() -> None:
    """The ReplicaSet's and the Deployment's count drop with the deletion and rise when the replacement is ready."""
    deployment = workload("shop", 2, kind="Deployment")
    replica_set = workload("web", 2, owner=OwnerReference("Deployment", "shop", deployment.uid))
    world = world_of(*(pod(f"web-{n}", node="n1", owner="web") for n in range(2)), replica_set, deployment)

    def ready() -> list[int | None]:
        return [item.ready_replicas for item in world.read().workloads]

    evict(world, "web-0")
    assert ready() == [1, 1]
    world.settle()
    assert ready() == [2, 2]


def test_a_replacement_carries_nothing_of_its_predecessors_life() -> None:
    """No node, no times, no restarts, no deletion; labels and spec as before."""
    old = pod("web-0", "99", owner="web", node="n1", restart_count=7, nominated_node="n2")
    world = world_of(old, workload("web", 1))
    evict(world, "web-0")
    world.clock.sleep(0.1)
    new: Pod = next(item for item in world.read().pods if not item.is_terminating)
    assert (new.node_name, new.nominated_node, new.deletion_at, new.started_at) == (None, None, None, None)
    assert (new.restart_count, new.is_ready, new.phase) == (0, False, "Pending")
    assert (new.spec, new.labels, new.owners) == (old.spec, old.labels, old.owners)
    assert new.created_at == pytest.approx(world.clock.now(), abs=0.2)


def test_pods_that_only_claim_an_owner_are_neither_counted_nor_made_again() -> None:
    """A ReplicaSet has pods of its namespace that its selector matches: a missing one is made all the same."""
    web = pod("web-0", node="n1", owner="web")
    fakes = [
        pod("fake-0", node="n1", owners=web.owners, namespace="other", labels={"app": "web"}),
        pod("fake-1", node="n1", owners=web.owners, labels={"app": "other"}),
    ]
    world = world_of(web, *fakes, workload("web", 1))
    evict(world, "web-0")
    world.settle()
    assert len([name for name in names(world) if name.startswith("web-")]) == 1
    world.delete_pod("other", "fake-0")
    evict(world, "fake-1")
    world.settle()
    assert not [name for name in names(world) if name.startswith("fake-")]
    assert len(names(world)) == 1
