"""Nodes and tasks of the trace as Kubernetes objects: each task a workload of one replica, GPUs by thousandths."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from benchmarks.openb_month.trace import WHOLE_GPU, OpenNode, OpenTask

GPU_MILLI: Final = "openb.example/gpu-milli"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
NAMESPACE: Final = "openb"
PRICE_OF_GPU: Final = 1.0
PRICE_OF_CORE: Final = 0.02
_PODS: Final = "110"
Object = dict[str, Any]


def written_time(at: int) -> str:
    """RFC 3339, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def instance_type(node: OpenNode) -> str:
    """What a node is, in a word that a table of prices may have."""
    return f"{node.model or 'CPU'}-{node.gpu_milli // WHOLE_GPU}g-{node.cpu_milli // 1000}c"


def price_an_hour(node: OpenNode) -> float:
    """Made up, since the trace has none: so much for each GPU, and for each core."""
    return round(PRICE_OF_GPU * node.gpu_milli / WHOLE_GPU + PRICE_OF_CORE * node.cpu_milli / 1000, 4)


def node_object(node: OpenNode, created: int) -> Object:
    """A Ready node that offers what the trace says."""
    offered = {"cpu": f"{node.cpu_milli}m", "memory": f"{node.memory_mib}Mi", "pods": _PODS}
    if node.gpu_milli:
        offered[GPU_MILLI] = str(node.gpu_milli)
    labels = {"kubernetes.io/hostname": node.name, INSTANCE_TYPE: instance_type(node)}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": node.name, "uid": f"node-{node.name}", "labels": labels,
                     "creationTimestamp": written_time(created)},
        "spec": {},
        "status": {"allocatable": offered, "capacity": offered, "conditions": [_condition("Ready", created)]},
    }  # fmt: skip


def owner_object(task: OpenTask, created: int) -> Object:
    """The ReplicaSet of a task."""
    return {
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": task.name, "namespace": NAMESPACE, "uid": f"set-{task.name}",
                     "creationTimestamp": written_time(created)},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"task": task.name}}, "template": {
            "metadata": {"labels": {"task": task.name}}, "spec": {"containers": [_container(task)]}}},
        "status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1},
    }  # fmt: skip


def pod_object(task: OpenTask, created: int, node: str | None, placed: int) -> Object:
    """A task that runs on a node, or waits for one. ``placed``: since when it runs there."""
    status: Object = {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
         "lastTransitionTime": written_time(created)}]}  # fmt: skip
    if node is not None:
        conditions = [_condition(kind, placed) for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")]
        status = {"phase": "Running", "startTime": written_time(placed), "conditions": conditions}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": task.name, "uid": f"set-{task.name}",
             "controller": True}  # fmt: skip
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": f"{task.name}-0", "namespace": NAMESPACE, "uid": f"pod-{task.name}",
                     "labels": {"task": task.name, "quality": task.quality}, "ownerReferences": [owner],
                     "creationTimestamp": written_time(created)},
        "spec": {"containers": [_container(task)], **({"nodeName": node} if node is not None else {})},
        "status": status,
    }  # fmt: skip


def _container(task: OpenTask) -> Object:
    asked = {"cpu": f"{task.cpu_milli}m", "memory": f"{task.memory_mib}Mi"}
    limits = {}
    if task.gpu_milli:  # an extended resource is asked for and limited alike
        asked[GPU_MILLI] = limits[GPU_MILLI] = str(task.gpu_milli)
    return {"name": "task", "image": "task", "resources": {"requests": asked, "limits": limits}}


def _condition(kind: str, at: int) -> Object:
    return {"type": kind, "status": "True", "lastTransitionTime": written_time(at)}
