"""Leads a pending pod to a node by ``status.nominatedNodeName``: kube-scheduler tries that node first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.patching import MERGE_PATCH, patch_unless_late
from rescheduler.adapters.kubernetes.client.paths import pod_path
from rescheduler.adapters.kubernetes.eviction.live_pods import read_pod
from rescheduler.extension_points import ClusterError

_TOO_LATE: Final = (404, 409, 422)
"""Gone, another pod by now (the uid differs), bound already, or changed since it was read."""
_TRIES: Final = 5


def nominate(
    connection: Connection,
    namespace: str,
    name: str,
    uid: str,
    node: str | None,
    annotations: Mapping[str, str | None] | None = None,
) -> bool:
    """Nominate a node (None: none any more) for exactly this pod. Raises ClusterError.

    False if the pod is gone, another, or bound by now. ``annotations`` may go with it (None removes one): an update of
    a pod makes the scheduler look at its nomination again.
    """
    metadata: dict[str, object] = {"uid": uid} if uid else {}
    if annotations:
        metadata["annotations"] = dict(annotations)
    body = {"metadata": metadata, "status": {"nominatedNodeName": node}}
    return patch_unless_late(connection, pod_path(namespace, name, "status"), body, MERGE_PATCH, _TOO_LATE)


def stands(connection: Connection, namespace: str, name: str, uid: str, node: str) -> bool:
    """Whether this very pod (uid "": whatever it is) is pending and nominated to the node. Raises ClusterError."""
    pod = read_pod(connection, namespace, name)
    return pod is not None and pod.is_pending and uid in ("", pod.uid) and pod.nominated_node == node


def withdraw(connection: Connection, namespace: str, name: str, uid: str, node: str) -> bool:
    """Take a nomination to this node off a pending pod; False if it does not stand (any more). Raises ClusterError.

    What the scheduler has nominated the pod to meanwhile is its own.
    """
    for _ in range(_TRIES):
        pod = read_pod(connection, namespace, name)
        if pod is None or not pod.is_pending or uid not in ("", pod.uid) or pod.nominated_node != node:
            return False
        metadata = {"uid": pod.uid, "resourceVersion": pod.resource_version}
        body = {"metadata": metadata, "status": {"nominatedNodeName": None}}
        if patch_unless_late(connection, pod_path(namespace, name, "status"), body, MERGE_PATCH, _TOO_LATE):
            return True
    raise ClusterError(f"pod {namespace}/{name} changes all the time: its nomination to {node} could not be taken off")
