"""Makes a start on a cluster: machines by NodeClaims of their own, pods where they stand, then those who own them."""

from __future__ import annotations

from typing import Any

from benchmarks.beside_karpenter.start import CPUS, Start
from tests.cluster.cluster import Cluster
from tests.cluster.karpenter.lab import NODE_POOLS, Karpenter
from tests.cluster.shapes import pod, replica_set
from tests.cluster.waiting import wait_until


def set_up(lab: Karpenter, cluster: Cluster, start: Start) -> None:
    """Karpenter owns the machines as if it had bought them, and consolidates nothing yet."""
    lab.add_pool(after="Never", cpu=[str(cpus) for cpus in CPUS])
    owner = cluster.api.get(NODE_POOLS, "default")["metadata"]["uid"]
    for number, machine in enumerate(start.machines):
        cluster.create(_claim(f"start-{number}", machine.instance_type, machine.zone, owner))
    wait_until(
        lambda: len(_nodes(lab)) == len(start.machines),
        lambda: f"{len(start.machines)} machines; there are {len(_nodes(lab))}",
        timeout_seconds=300,
    )
    nodes = _nodes(lab)
    counts: dict[int, int] = {}
    for number, item in enumerate(start.pods):
        counts[item.workload] = counts.get(item.workload, 0) + 1
        placed = {"nodeName": nodes[f"start-{item.machine}"]}
        name = f"web-{item.workload}"
        cluster.create(pod(f"{name}-{number}", labels={"app": name}, spec=placed, **_size(item.size)))
    sizes = {item.workload: item.size for item in start.pods}
    for workload, count in counts.items():
        cluster.create(replica_set(f"web-{workload}", replicas=count, **_size(sizes[workload])))
    cluster.wait_pods_running(len(start.pods), timeout_seconds=120)
    wait_until(
        lambda: not _unready(cluster),
        lambda: f"ReplicaSets that have adopted and counted all of their pods; others: {', '.join(_unready(cluster))}",
        timeout_seconds=300,
    )


def _unready(cluster: Cluster) -> list[str]:
    """ReplicaSets that count fewer ready pods of their own than they are to have.

    Their controller adopts pods one by one: one without an owner must not be moved, and budgets are spent until then.
    """
    found = cluster.api.list("replicasets", "default")
    return [
        item["metadata"]["name"]
        for item in found
        if item.get("status", {}).get("readyReplicas", 0) != item["spec"]["replicas"]
    ]


def _size(size: tuple[int, int]) -> dict[str, str]:
    return {"cpu": f"{size[0]}m", "memory": f"{size[1]}Mi"}


def _nodes(lab: Karpenter) -> dict[str, str]:
    """Nodes that pods may be put on, by their claim."""
    return {
        name: claim["status"]["nodeName"]
        for name, claim in lab.node_claims().items()
        for condition in claim.get("status", {}).get("conditions", [])
        if condition["type"] == "Initialized" and condition["status"] == "True"
    }


def _claim(name: str, instance_type: str, zone: str, owner: str) -> dict[str, Any]:
    asked = {
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/capacity-type": "on-demand",
        "node.kubernetes.io/instance-type": instance_type,
        "topology.kubernetes.io/zone": zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "default", "uid": owner}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": name,
            "labels": {"karpenter.sh/nodepool": "default"},
            "ownerReferences": [{**pool, "blockOwnerDeletion": True}],
        },
        "spec": {
            "requirements": [{"key": key, "operator": "In", "values": [value]} for key, value in asked.items()],
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "resources": {"requests": {"cpu": "1"}},
            "expireAfter": "Never",
        },
    }
