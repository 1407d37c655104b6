"""API objects as JSON-like data, as kubectl prints them."""

from __future__ import annotations

import io
import json
from typing import Any

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.model.objects.cluster import Cluster

Object = dict[str, Any]
CREATED = "2026-05-01T10:00:00Z"


def api_object(kind: str, name: str, *, namespace: str | None = None, version: str = "v1", **fields: Any) -> Object:
    """Any object; ``metadata`` may be given in part."""
    metadata = {"name": name, "uid": f"uid-{kind}-{name}", **({"namespace": namespace} if namespace else {})}
    metadata.update(fields.pop("metadata", {}))
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def node_object(name: str = "n1", **status: Any) -> Object:
    """A ready node of 4 cores."""
    offered = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": CREATED}]
    return api_object(
        "Node",
        name,
        metadata={"labels": {"kubernetes.io/hostname": name}, "creationTimestamp": CREATED},
        spec={},
        status={"allocatable": offered, "capacity": offered, "conditions": ready, **status},
    )


def container(name: str = "main", cpu: str | None = "1", **fields: Any) -> Object:
    """A container; ``cpu`` None: no resources at all."""
    resources = {} if cpu is None else {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {"name": name, "image": "registry.example.com/app:v1", "resources": resources, **fields}


def pod_object(
    name: str = "a", node: str | None = "n1", *, namespace: str = "default", status: Object | None = None, **spec: Any
) -> Object:
    """A running pod of one container; ``node`` None: pending. ``spec`` fields as in the API."""
    placed = {"nodeName": node} if node else {}
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": CREATED} for kind in ("Ready", "PodScheduled")]
    running = {"phase": "Running", "startTime": CREATED, "conditions": conditions}
    return api_object(
        "Pod",
        name,
        namespace=namespace,
        metadata={"labels": {"app": "web"}, "creationTimestamp": CREATED, "resourceVersion": "7"},
        spec={"containers": [container()], "priority": 0, **placed, **spec},
        status=status if status is not None else running if node else {"phase": "Pending"},
    )


def list_of(*items: Object) -> Object:
    """What ``kubectl get -o json`` prints."""
    return {"apiVersion": "v1", "kind": "List", "items": list(items), "metadata": {"resourceVersion": ""}}


def complete(*items: Object) -> Object:
    """The same with an empty list of every kind, so that nothing counts as left out."""
    return list_of(
        *items, *({"apiVersion": kind.api_version, "kind": f"{kind.name}List", "items": []} for kind in KINDS)
    )


def read(data: object) -> Cluster:
    """Read a recording from standard input; anything but bytes is written as JSON first."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return read_recording(["-"], io.BytesIO(raw))


def read_pod(pod: Object) -> Any:
    """The model's pod for one API object, read beside its node."""
    return read(list_of(node_object(), pod)).pods[0]
