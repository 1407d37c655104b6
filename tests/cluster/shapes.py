"""Manifests of nodes, pods and workloads with what a test cares about; `spec` fills in whatever else it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.cluster.api import Manifest

Strings = Mapping[str, str]


def node(
    name: str, *, cpu: str = "4", memory: str = "16Gi", pods: int = 110, labels: Strings | None = None,
    taints: list[Manifest] | None = None, extended: Strings | None = None, annotations: Strings | None = None,
) -> Manifest:  # fmt: skip
    """Return a node that kwok will play; `extended` are resources such as `{"example.com/gpu": "8"}`."""
    resources = {"cpu": cpu, "memory": memory, "pods": str(pods), **(extended or {})}
    metadata = _metadata(name, None, {"kubernetes.io/hostname": name, **(labels or {})}, annotations)
    status = {"capacity": resources, "allocatable": resources}
    return _manifest("v1", "Node", metadata, spec={"taints": taints} if taints else {}, status=status)


def pod_template(
    *, cpu: str | None = "100m", memory: str | None = "64Mi", labels: Strings | None = None,
    annotations: Strings | None = None, extended: Strings | None = None, spec: Manifest | None = None,
) -> Manifest:  # fmt: skip
    """Return a pod's metadata and spec, as pods and workloads share them; kwok.py lists annotations that steer it."""
    requests = {name: value for name, value in (("cpu", cpu), ("memory", memory)) if value}
    resources: Manifest = {"requests": {**requests, **(extended or {})}}
    if extended:  # such resources cannot be overcommitted: the API wants equal limits
        resources["limits"] = dict(extended)
    container = {"name": "main", "image": "example.invalid/pretended", "resources": resources}
    metadata = {"labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {"metadata": metadata, "spec": {"containers": [container], **(spec or {})}}


def pod(name: str, namespace: str = "default", **template: Any) -> Manifest:
    """Return a bare pod; the arguments besides its name are those of `pod_template`."""
    shape = pod_template(**template)
    metadata = {"name": name, "namespace": namespace, **shape["metadata"]}
    return _manifest("v1", "Pod", metadata, spec=shape["spec"])


def deployment(name: str, replicas: int = 1, namespace: str = "default", **template: Any) -> Manifest:
    """Return a Deployment whose pods carry the label `app: NAME`; further arguments are those of `pod_template`."""
    return _workload("apps/v1", "Deployment", name, namespace, template, replicas=replicas)


def replica_set(name: str, replicas: int = 1, namespace: str = "default", **template: Any) -> Manifest:
    """Return a ReplicaSet whose pods carry the label `app: NAME`."""
    return _workload("apps/v1", "ReplicaSet", name, namespace, template, replicas=replicas)


def stateful_set(name: str, replicas: int = 1, namespace: str = "default", **template: Any) -> Manifest:
    """Return a StatefulSet that starts its pods in parallel."""
    fields = {"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel"}
    return _workload("apps/v1", "StatefulSet", name, namespace, template, **fields)


def daemon_set(name: str, namespace: str = "default", **template: Any) -> Manifest:
    """Return a DaemonSet."""
    return _workload("apps/v1", "DaemonSet", name, namespace, template)


def job(name: str, namespace: str = "default", *, job_spec: Manifest | None = None, **template: Any) -> Manifest:
    """Return a Job of one pod that is not tried again; `job_spec` holds further fields of the Job itself."""
    shape = _labelled(name, template)
    shape["spec"].setdefault("restartPolicy", "Never")
    fields = {"backoffLimit": 0, "template": shape, **(job_spec or {})}
    return _manifest("batch/v1", "Job", _metadata(name, namespace), spec=fields)


def disruption_budget(name: str, namespace: str = "default", *, app: str | None = None, **spec: Any) -> Manifest:
    """Return a PodDisruptionBudget over one workload's pods; `spec` holds minAvailable, maxUnavailable and others."""
    selector = {"matchLabels": {"app": app or name}}
    return _manifest(
        "policy/v1", "PodDisruptionBudget", _metadata(name, namespace), spec={"selector": selector, **spec}
    )


def priority_class(name: str, value: int, **fields: Any) -> Manifest:
    """Return a PriorityClass; `fields` may hold preemptionPolicy or globalDefault."""
    return _manifest("scheduling.k8s.io/v1", "PriorityClass", _metadata(name), value=value, **fields)


def resource_quota(name: str, namespace: str = "default", **hard: str) -> Manifest:
    """Return a ResourceQuota; write `**{"requests.cpu": "2", "pods": "10"}`."""
    return _manifest("v1", "ResourceQuota", _metadata(name, namespace), spec={"hard": hard})


def namespace(name: str, labels: Strings | None = None) -> Manifest:
    """Return a namespace."""
    return _manifest("v1", "Namespace", _metadata(name, None, labels))


def _workload(version: str, kind: str, name: str, namespace: str, template: Manifest, **fields: Any) -> Manifest:
    """Return a workload that selects its pods by the label `app`."""
    spec = {**fields, "selector": {"matchLabels": {"app": name}}, "template": _labelled(name, template)}
    return _manifest(version, kind, _metadata(name, namespace, {"app": name}), spec=spec)


def _labelled(name: str, template: Manifest) -> Manifest:
    """Return a pod template that carries its workload's name as a label."""
    return pod_template(**{**template, "labels": {"app": name, **(template.get("labels") or {})}})


def _metadata(
    name: str, namespace: str | None = None, labels: Strings | None = None, annotations: Strings | None = None
) -> Manifest:
    """Return an object's metadata without its empty parts."""
    parts = {"namespace": namespace, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {"name": name, **{key: value for key, value in parts.items() if value}}


def _manifest(version: str, kind: str, metadata: Manifest, **rest: Any) -> Manifest:
    """Return an object."""
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
