"""Leads a pending pod to a node by ``status.nominatedNodeName``: kube-scheduler tries that node first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.patching import MERGE_PATCH, patch_unless_late
from rescheduler.adapters.kubernetes.client.paths import pod_path

_TOO_LATE: Final = (404, 409, 422)
"""Gone, another pod by now (the uid differs), bound already."""


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
