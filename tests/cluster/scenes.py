"""Small clusters in which a pending pod needs room: what stands where, before the rescheduler is asked."""

from __future__ import annotations

from typing import Any

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.shapes import deployment, node, replica_set
from tests.cluster.waiting import wait_until

SINGLE_REPLICAS_MAY_MOVE = "disruption: {singleReplicas: Allow, workloads: {maxUnavailable: 99%}}"


def fragmented(cluster: Cluster, nodes: int = 4) -> None:
    """Nodes of 4 CPU with three pods of 1 CPU each, and a pending pod of 2.5 CPU: two evictions make room."""
    cluster.add_nodes(nodes, cpu="4")
    fill(cluster, nodes)


def cramped(cluster: Cluster) -> None:
    """Two nodes of 4 CPU with three pods of 1 CPU each, and a pending pod of 2 CPU: one eviction makes room.

    Nothing ties: the pod that goes has one other node, so that a scheduler has no choice by lot.
    """
    cluster.add_nodes(2, cpu="4")
    spread(cluster, deployment("web", replicas=6, cpu="1"))
    add_pending(cluster, deployment("big", cpu="2"))


def add_node(cluster: Cluster, name: str, **shape: Any) -> None:
    """Create one node and wait until pods can be placed on it."""
    cluster.create(node(name, **shape))
    cluster.wait_nodes_ready([name])


def fill(cluster: Cluster, nodes: int) -> None:
    """The pods of ``fragmented``, on nodes that are there."""
    spread(cluster, deployment("web", replicas=3 * nodes, cpu="1"))
    add_pending(cluster, deployment("big", cpu="2500m"))


def spread(cluster: Cluster, manifest: Manifest) -> None:
    """Create a deployment that stands on all nodes alike.

    A scheduler may place pods before it has heard of every node; then they go, and it is asked again.
    """
    name, replicas = manifest["metadata"]["name"], manifest["spec"]["replicas"]

    def is_even() -> bool:
        cluster.create(manifest)
        cluster.wait_pods_running(replicas, labels=f"app={name}")
        on_nodes = cluster.pods_by_node("default", labels=f"app={name}").values()
        if len(on_nodes) == len(cluster.api.list("nodes")) and len(set(map(len, on_nodes))) == 1:
            return True
        cluster.api.delete("deployments", name, "default")
        wait_until(lambda: not cluster.api.list("pods", "default", labels=f"app={name}"), f"{name} to be gone")
        return False

    wait_until(is_even, f"{replicas} pods of {name} on all nodes alike")


def empty(cluster: Cluster) -> None:
    """Remove the pods of ``fill`` again."""
    for name in ("web", "big"):
        cluster.api.delete("deployments", name, "default")
    wait_until(lambda: not cluster.api.list("pods", "default"), "an empty cluster")


def put(cluster: Cluster, target: str, manifest: Manifest, count: int = 1) -> None:
    """Create a workload while all nodes but one are closed, so that its pods land there."""
    names = [item["metadata"]["name"] for item in cluster.api.list("nodes")]
    for name in names:
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": name != target}})
    cluster.create(manifest)
    app = manifest["metadata"]["name"]
    cluster.wait_pods_running(count, labels=f"app={app}")
    assert set(cluster.pods_by_node("default", labels=f"app={app}")) == {target}
    for name in names:
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": None}})
    wait_until(lambda: not any(taints(item) for item in cluster.api.list("nodes")), "nodes without taints of our own")


def taints(node: Manifest) -> list[str]:
    """Taints that the node controller set for a closed or unready node."""
    found = [taint["key"] for taint in node["spec"].get("taints", [])]
    return [key for key in found if key.startswith("node.kubernetes.io/")]


def add_pending(cluster: Cluster, manifest: Manifest) -> str:
    """Create a workload of one pod, wait until the scheduler has found no place for it, and return the pod's name."""
    cluster.create(manifest)
    app = manifest["metadata"]["name"]
    found: list[str] = []

    def is_unschedulable() -> bool:
        found[:] = [
            pod["metadata"]["name"]
            for pod in cluster.api.list("pods", "default", labels=f"app={app}")
            if condition(pod, "PodScheduled") == "False"
        ]
        return bool(found)

    wait_until(is_unschedulable, f"the scheduler's verdict on {app}")
    return found[0]


def chained(cluster: Cluster, mid: Manifest | None = None) -> str:
    """Room for big on a needs mid gone, whose only place is b, which little must leave for c first.

    ``mid``: further fields of that pod's specification. Returns the name of big's pod.
    """
    for name in ("a", "b", "c"):
        cluster.add_nodes(1, prefix=name, cpu="4")
    put(cluster, "a-0", replica_set("mid", cpu="3", spec=mid or {}))
    put(cluster, "b-0", replica_set("little", cpu="2"))
    put(cluster, "b-0", replica_set("stay", cpu="1"))
    put(cluster, "c-0", replica_set("rest", cpu="2"))
    return add_pending(cluster, deployment("big", cpu="4", spec={"nodeSelector": {"kubernetes.io/hostname": "a-0"}}))
