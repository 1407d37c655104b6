"""Paths of the API objects that we write to."""

from __future__ import annotations

from urllib.parse import quote

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import NotServedError, refusal
from rescheduler.model.objects.annotations import MANAGED_BY, OURS, POD_SECURITY, RESTRICTED

ALL_PODS = "/api/v1/pods"
ALL_JOBS = "/apis/batch/v1/jobs"


def pod_path(namespace: str, name: str = "", subresource: str = "") -> str:
    """Path of a namespace's pods, of one pod, or of one part of it."""
    return _path(f"/api/v1/namespaces/{quote(namespace, safe='')}/pods", name, subresource)


def job_path(namespace: str, name: str = "") -> str:
    """Path of a namespace's Jobs, or of one of them."""
    return _path(f"/apis/batch/v1/namespaces/{quote(namespace, safe='')}/jobs", name)


def event_path(namespace: str) -> str:
    """Path of a namespace's Events."""
    return f"/apis/events.k8s.io/v1/namespaces/{quote(namespace, safe='')}/events"


def config_map_path(namespace: str, name: str = "") -> str:
    """Path of a namespace's ConfigMaps, or of one of them."""
    return _path(f"/api/v1/namespaces/{quote(namespace, safe='')}/configmaps", name)


def lease_path(namespace: str, name: str = "") -> str:
    """Path of a namespace's Leases, or of one of them."""
    return _path(f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace, safe='')}/leases", name)


def secret_path(namespace: str, name: str) -> str:
    """Path of one Secret."""
    return _path(f"/api/v1/namespaces/{quote(namespace, safe='')}/secrets", name)


def namespace_path(name: str = "") -> str:
    """Path of all namespaces, or of one."""
    return _path("/api/v1/namespaces", name)


def node_path(name: str = "") -> str:
    """Path of all nodes, or of one."""
    return _path("/api/v1/nodes", name)


def object_path(listed_at: str, namespace: str = "", name: str = "") -> str:
    """Path of one object of a kind, or of a namespace's; ``listed_at``: where all of the kind are listed."""
    group, _, plural = listed_at.rpartition("/")
    return _path(f"{group}/namespaces/{quote(namespace, safe='')}/{plural}" if namespace else listed_at, name)


def _path(collection: str, name: str, subresource: str = "") -> str:
    parts = [collection, *(quote(part, safe="") for part in (name, subresource) if part)]
    return "/".join(parts)


# The one namespace that we write in, made where it is missing.


def ensure_namespace(connection: Connection, name: str) -> None:
    """Make a missing namespace: ``deploy/reading.yaml`` brings it, a first try does not. Raises ClusterError."""
    try:
        connection.get(namespace_path(name))
    except NotServedError:
        metadata = {"name": name, "labels": {MANAGED_BY: OURS, POD_SECURITY: RESTRICTED}}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        answer = connection.send("POST", namespace_path(), body)
        if answer.status >= 300 and answer.status != 409:
            raise refusal(connection.server, "", "POST", namespace_path(), answer.status, answer.body) from None
