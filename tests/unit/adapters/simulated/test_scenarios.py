"""The scenarios: each has the property in its name, whatever the seed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.simulated.scenarios import chain, fragmented, infeasible, several_pending
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU

SEEDS = st.integers(0, 2**32 - 1)


def free(cluster: Cluster) -> dict[str, int]:
    """Free millicores of each node."""
    return {
        node.name: dict(node.allocatable)[CPU] - sum(map(cpu, cluster.pods_by_node.get(node.name, ())))
        for node in cluster.nodes
    }


def cpu(pod: Pod) -> int:
    """Requested millicores."""
    return dict(pod.spec.requests)[CPU]


@settings(max_examples=30)
@given(SEEDS, st.integers(3, 20))
def test_fragmented_has_room_in_pieces_only(seed: int, nodes: int) -> None:
    """The pending pod fits on no node, nor in place of one pod; two movable pods of one core make room somewhere."""
    cluster = fragmented(seed, nodes)
    (waiting,) = cluster.pending_pods
    room = free(cluster)
    assert len(cluster.nodes) == nodes
    assert all(1000 <= amount < cpu(waiting) for amount in room.values())
    assert sum(room.values()) >= cpu(waiting)
    assert max(room.values()) + max(cpu(pod) for pod in cluster.pods if pod is not waiting) < cpu(waiting)
    movable = [pod for pod in cluster.pods if pod.labels["app"] in ("web", "catalog")]
    assert all(cpu(pod) <= 1000 for pod in movable)
    assert any(
        amount + sum(cpu(pod) for pod in movable if pod.node_name == name) >= cpu(waiting)
        for name, amount in room.items()
    )


def test_fragmented_shows_every_kind_of_refusal() -> None:
    """Seed 0 has a budget that allows nothing, a single replica, a DaemonSet and local storage."""
    cluster = fragmented(0)
    assert any(budget.disruptions_allowed == 0 for budget in cluster.budgets)
    assert any(workload.desired_replicas == 1 and workload.ready_replicas == 1 for workload in cluster.workloads)
    assert any(workload.kind == "DaemonSet" for workload in cluster.workloads)
    assert any(volume.kind == "EmptyDir" for pod in cluster.pods for volume in pod.volumes)


@settings(max_examples=30)
@given(SEEDS)
def test_several_pending_differ_and_each_could_be_helped(seed: int) -> None:
    """Two pods of different shapes, neither of which fits now."""
    cluster = several_pending(seed)
    waiting = cluster.pending_pods
    assert len({pod.spec for pod in waiting}) == 2
    assert max(free(cluster).values()) < min(map(cpu, waiting))


@settings(max_examples=30)
@given(SEEDS)
def test_chain_needs_both_links(seed: int) -> None:
    """No fast node has room for the index until the archive leaves, and the pending pod needs the index to leave."""
    cluster = chain(seed)
    (waiting,) = cluster.pending_pods
    room = free(cluster)
    link = cpu(waiting)
    assert all(room[name] < link for name in ("fast-1", "fast-2", "fast-3"))
    assert room["fast-3"] == 0
    assert room["fast-1"] + link >= link
    assert room["plain-1"] >= link


@settings(max_examples=30)
@given(SEEDS)
def test_infeasible_lacks_room_in_all(seed: int) -> None:
    """Less is free on all nodes together than the pending pod asks for."""
    cluster = infeasible(seed)
    (waiting,) = cluster.pending_pods
    assert sum(free(cluster).values()) < cpu(waiting)


@pytest.mark.parametrize("scenario", [fragmented, several_pending, chain, infeasible])
def test_a_scenario_is_a_sound_cluster_at_rest(scenario: Callable[[int], Cluster]) -> None:
    """Unique names and uids, sorted, equal for equal seeds; left alone, nothing happens but vain attempts."""
    cluster = scenario(5)
    assert len(cluster.pod_by_key) == len({pod.uid for pod in cluster.pods}) == len(cluster.pods)
    assert list(cluster.pods) == sorted(cluster.pods, key=lambda pod: (pod.namespace, pod.name))
    assert cluster.pods == scenario(5).pods
    assert cluster.pods != scenario(6).pods
    for workload in cluster.workloads:
        owned = [pod for pod in cluster.pods if cluster.owner_of(pod) is workload]
        assert not owned or len(owned) == workload.desired_replicas
    world = SimulatedCluster(cluster)
    world.clock.sleep(100)
    assert {pod.key: pod.node_name for pod in world.read().pods} == {pod.key: pod.node_name for pod in cluster.pods}
