"""Tells of an act by Events on the pod and on its owner, where people and tools look for them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.paths import event_path
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.plan.plan import PodReference
from rescheduler.model.times import rfc3339

CONTROLLER: Final = "rescheduler.dev/rescheduler"
LONGEST_NOTE: Final = 1000
_VERSIONS: Final = {
    "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Deployment": "apps/v1",
    "Job": "batch/v1", "ReplicationController": "v1",
}  # fmt: skip


ACTION: Final = "Reschedule"


class Act(NamedTuple):
    """What is told: the Event's reason, note and action."""

    reason: str
    note: str
    action: str = ACTION
    is_warning: bool = False


def record(connection: Connection, pod: PodReference, owner: OwnerReference | None, now: float, act: Act) -> bool:
    """Write one Event on the pod and one on its owner; whether both were sent.

    What goes wrong is dropped: telling never stops a plan.
    """
    for regarding, text in _subjects(pod, owner, act.note):
        try:
            connection.send("POST", event_path(pod.namespace), event(regarding, now, act._replace(note=text)))
        except ClusterError:
            return False
    return True


def event(regarding: dict[str, str], now: float, act: Act) -> dict[str, Any]:
    """An Event of ours; ``now`` in seconds since the epoch."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {
            "generateName": "rescheduler-",
            "namespace": regarding["namespace"],
            "labels": {MANAGED_BY: OURS},
        },
        "eventTime": rfc3339(now, "microseconds"),
        "reportingController": CONTROLLER,
        "reportingInstance": socket.gethostname()[:128] or "unknown",
        "action": act.action,
        "reason": act.reason,
        "regarding": regarding,
        "note": act.note[:LONGEST_NOTE],
        "type": "Warning" if act.is_warning else "Normal",
    }


def _subjects(pod: PodReference, owner: OwnerReference | None, note: str) -> Iterator[tuple[dict[str, str], str]]:
    subject = {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
    yield subject, note
    if owner is not None and owner.group is None and owner.kind in _VERSIONS:
        version = _VERSIONS[owner.kind]
        subject = {"kind": owner.kind, "namespace": pod.namespace, "name": owner.name, "uid": owner.uid}
        yield {"apiVersion": version, **subject}, f"pod {pod.name}: {note}"
