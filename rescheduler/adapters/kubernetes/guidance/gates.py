"""Pods that wait at our gate: found, and let go."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import compress
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded
from rescheduler.adapters.kubernetes.client.failures import all_tried
from rescheduler.adapters.kubernetes.client.patching import STRATEGIC_PATCH, patch_unless_late
from rescheduler.adapters.kubernetes.client.paths import ALL_PODS, pod_path
from rescheduler.adapters.kubernetes.guidance.placeholders import EXPIRES_ANNOTATION, PLAN_LABEL
from rescheduler.model.objects.annotations import GUIDE_GATE

_TOO_LATE: Final = (404, 409)
"""Gone, or another pod by now (the uid differs)."""


class MarkedPod(NamedTuple):
    """A pod at our gate, or out of its ReplicaSet, and of which plan.

    ``expires``: as RFC 3339, when that is over unless it is renewed; both may be empty.
    """

    namespace: str
    name: str
    uid: str
    plan_id: str = ""
    expires: str = ""


class _Gate(msgspec.Struct, gc=False):
    name: str = ""


class _Metadata(msgspec.Struct, gc=False):
    name: str
    namespace: str
    uid: str = ""
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct, gc=False):
    gates: list[_Gate] | None = msgspec.field(name="schedulingGates", default=None)


class _Pod(msgspec.Struct, gc=False):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Pods(msgspec.Struct, gc=False):
    items: list[_Pod] | None = None


def ungate(connection: Connection, namespace: str, name: str, uid: str) -> bool:
    """Take our gate and our notes off exactly this pod; False if it is gone or another. Raises ClusterError.

    ``uid`` may be empty: then off whichever pod has that name. Nothing is pinned by that: the pod is as it would have
    been without us, but for its nomination.
    """
    notes: dict[str, Any] = {"annotations": {PLAN_LABEL: None, EXPIRES_ANNOTATION: None}}
    if uid:
        notes["uid"] = uid
    body = {"metadata": notes, "spec": {"schedulingGates": [{"$patch": "delete", "name": GUIDE_GATE}]}}
    return patch_unless_late(connection, pod_path(namespace, name), body, STRATEGIC_PATCH, _TOO_LATE)


def find_gated(connection: Connection) -> list[MarkedPod]:
    """All pods at our gate, of any plan. Raises ClusterError."""
    found = []
    for page in connection.pages(ALL_PODS, params={"fieldSelector": "spec.nodeName="}):
        pods = decoded(connection, f"GET {ALL_PODS}", page, _Pods).items or ()
        found += [_gated(pod) for pod in pods if any(gate.name == GUIDE_GATE for gate in pod.spec.gates or ())]
    return found


def ungate_all(connection: Connection, pods: Sequence[MarkedPod]) -> list[MarkedPod]:
    """Let these pods go; those that were there. Raises ClusterError, after all of them were tried."""
    freed = all_tried(partial(ungate, connection, pod.namespace, pod.name, pod.uid) for pod in pods)
    return list(compress(pods, freed))


def _gated(pod: _Pod) -> MarkedPod:
    metadata = pod.metadata
    notes = metadata.annotations or {}
    plan_id, expires = notes.get(PLAN_LABEL, ""), notes.get(EXPIRES_ANNOTATION, "")
    return MarkedPod(metadata.namespace, metadata.name, metadata.uid, plan_id, expires)
