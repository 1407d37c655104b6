"""Builders of nodes, pods, workloads, budgets and whole clusters for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rescheduler.model.objects.cluster import HELD_OWNERS, Cluster
from rescheduler.model.objects.constraints import HostPort, LabelSelector, Requirement, Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import (
    CPU,
    DEFAULT_MEMORY_BYTES,
    DEFAULT_MILLICORES,
    MEMORY,
    PODS,
    offered_amount,
    requested_amount,
    resources,
)
from rescheduler.model.objects.workload import DisruptionBudget, Workload

NOW = 1_800_000_000.0
PLENTY = 1000.0
"""Seconds of planning that no test uses up: solvers go by the real clock."""


def selector(**labels: str) -> LabelSelector:
    """A selector of equal labels; no label selects everything."""
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Taint:
    """A taint."""
    return Taint(key, value, effect)


def node(
    name: str,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Taint] = (),
    extended: Mapping[str, str] | None = None,
    zone: str | None = None,
    **fields: Any,
) -> Node:
    """A ready node; ``zone`` sets the usual zone label, ``extended`` further resources."""
    amounts = {CPU: cpu, MEMORY: memory, PODS: str(pods), **(extended or {})}
    allocatable = resources((key, offered_amount(key, value)) for key, value in amounts.items())
    all_labels = {"kubernetes.io/hostname": name, **({"topology.kubernetes.io/zone": zone} if zone else {})}
    return Node(
        name=name,
        uid=f"uid-{name}",
        allocatable=allocatable,
        capacity=allocatable,
        labels={**all_labels, **(labels or {})},
        taints=tuple(taints),
        created_at=NOW - 30 * 86400,
        **fields,
    )


SPEC_FIELDS = set(PodSpec.__struct_fields__)


def pod(
    name: str,
    cpu: str = "1",
    memory: str = "1Gi",
    *,
    node: str | None = None,
    owner: str | None = "",
    kind: str = "ReplicaSet",
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    extended: Mapping[str, str] | None = None,
    ports: Iterable[int] = (),
    **fields: Any,
) -> Pod:
    """A pod; without ``node`` it is pending. ``owner`` "" names it after the pod (up to the last dash), None: none.

    Fields of PodSpec and of Pod may both be given by name.
    """
    amounts = {CPU: cpu, MEMORY: memory, **(extended or {})}
    requests = resources((key, requested_amount(key, value)) for key, value in amounts.items())
    scored = {CPU: DEFAULT_MILLICORES, MEMORY: DEFAULT_MEMORY_BYTES, **dict(requests)}
    spec_fields = {key: fields.pop(key) for key in list(fields) if key in SPEC_FIELDS}
    spec_fields.setdefault("host_ports", tuple(HostPort(port) for port in ports))
    spec = PodSpec(requests=requests, scored_requests=resources(scored.items()), **spec_fields)
    workload = (name.rpartition("-")[0] or name) if owner == "" else owner
    owners = () if workload is None else (OwnerReference(kind, workload, f"uid-{namespace}-{workload}"),)
    running = node is not None
    defaults: dict[str, Any] = {
        "uid": f"uid-{namespace}-{name}",
        "phase": "Running" if running else "Pending",
        "is_ready": running,
        "created_at": NOW - 86400,
        "started_at": NOW - 86400 if running else None,
        "scheduled_at": NOW - 86400 if running else None,
        "owners": owners,
        "labels": labels if labels is not None else {"app": workload or name},
        "resource_version": "1",
    }
    return Pod(
        namespace=namespace,
        name=name,
        spec=spec,
        node_name=node,
        **{**defaults, **fields},
    )


def workload(
    name: str, replicas: int, *, kind: str = "ReplicaSet", namespace: str = "default", **fields: Any
) -> Workload:
    """A workload whose uid is that of the pods that name it as owner."""
    defaults: dict[str, Any] = {
        "desired_replicas": replicas,
        "ready_replicas": replicas,
        "updated_replicas": replicas,
        "current_replicas": replicas,
        "selector": selector(app=name),
    }
    return Workload(kind=kind, namespace=namespace, name=name, uid=f"uid-{namespace}-{name}", **{**defaults, **fields})


def budget(
    name: str, allowed: int, *, namespace: str = "default", app: str | None = None, **fields: Any
) -> DisruptionBudget:
    """A PodDisruptionBudget over the pods labelled ``app`` (its own name by default) with an observed status."""
    defaults: dict[str, Any] = {
        "selector": selector(app=app or name),
        "disruptions_allowed": allowed,
        "current_healthy": allowed + 1,
        "desired_healthy": 1,
        "expected_pods": allowed + 1,
    }
    return DisruptionBudget(namespace=namespace, name=name, uid=f"uid-{name}", **{**defaults, **fields})


def cluster(*objects: Node | Pod | Workload | DisruptionBudget, **fields: Any) -> Cluster:
    """A cluster of the given objects, sorted as a reader sorts them.

    Of kinds of which none is given, though pods name some as their owners, nobody has read any.
    """
    nodes = sorted((item for item in objects if isinstance(item, Node)), key=lambda item: item.name)
    pods = sorted((item for item in objects if isinstance(item, Pod)), key=lambda item: (item.namespace, item.name))
    workloads = tuple(item for item in objects if isinstance(item, Workload))
    named = {owner.kind for item in pods for owner in item.owners if owner.group is None}
    return Cluster(
        nodes=tuple(nodes),
        pods=tuple(pods),
        workloads=workloads,
        budgets=tuple(item for item in objects if isinstance(item, DisruptionBudget)),
        **{
            "taken_at": NOW,
            "source": "test",
            "absent_kinds": frozenset(named & HELD_OWNERS - {item.kind for item in workloads}),
            **fields,
        },
    )
