"""Takes a pod out of its ReplicaSet by one patch, gives it back by another, and finds those that are out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded, require_done
from rescheduler.adapters.kubernetes.client.failures import NotServedError, all_tried
from rescheduler.adapters.kubernetes.client.patching import MERGE_PATCH, STRATEGIC_PATCH, patch_unless_late
from rescheduler.adapters.kubernetes.client.paths import ALL_PODS, pod_path
from rescheduler.adapters.kubernetes.guidance.gates import MarkedPod
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.plan.detachment import Detachment, read_detachment
from rescheduler.model.plan.plan import PodReference

ATTEMPTS: Final = 20
"""A pod's kubelet writes to it too; each of its writes in between costs one more attempt to give it back."""
_TOO_LATE: Final = (404, 409)
"""Gone, another pod by now (the uid differs), or changed since it was read."""


class _Metadata(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = msgspec.field(name="resourceVersion", default="")
    deletion: str | None = msgspec.field(name="deletionTimestamp", default=None)
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None

    def detachment(self) -> Detachment | None:
        """What the pod says of having been taken out."""
        text = (self.annotations or {}).get(SURGE)
        return None if text is None else read_detachment(text, (self.labels or {}).get(TEMPLATE_HASH, ""))


class _Pod(msgspec.Struct, gc=False):
    metadata: _Metadata


class _Pods(msgspec.Struct, gc=False):
    items: list[_Pod] | None = None


def detach(
    connection: Connection, pod: PodReference, resource_version: str, owner_uid: str, detachment: Detachment
) -> bool:
    """Take exactly this pod out of its ReplicaSet; False if it has changed since it was read. Raises ClusterError."""
    metadata = {
        "uid": pod.uid,
        "resourceVersion": resource_version,
        "labels": {detachment.label: detachment.leaving_value},
        "annotations": {SURGE: detachment.written()},
        # Merged by uid. The reference stays as a plain one: with its Deployment deleted the pod goes too.
        "ownerReferences": [{"uid": owner_uid, "controller": False}],
    }
    path = pod_path(pod.namespace, pod.name)
    return patch_unless_late(connection, path, {"metadata": metadata}, STRATEGIC_PATCH, _TOO_LATE)


def give_back(connection: Connection, namespace: str, name: str, uid: str) -> bool:
    """Put a pod's label back and take our annotation off, whoever writes to it meanwhile. Raises ClusterError.

    False if there is nothing to give back: the pod is gone, another or on its way out, or carries no annotation of
    ours. ``uid`` may be empty: then whichever pod has that name. An eviction that was sent before and has not taken
    effect never does then, since it asks for the pod as it was.
    """
    path = pod_path(namespace, name)
    for _ in range(ATTEMPTS):
        try:
            found = decoded(connection, f"GET {path}", connection.get(path), _Pod).metadata
        except NotServedError:
            return False
        detachment = found.detachment()
        if detachment is None or found.deletion or (uid and uid != found.uid):
            return False
        answer = connection.send("PATCH", path, _undo(found, detachment), content_type=MERGE_PATCH)
        if answer.status == 404:
            return False
        if answer.status != 409:
            require_done(connection, "PATCH", path, answer)
            return True
    raise ClusterError(f"pod {namespace}/{name} is changed by others all the time: it was not given back")


def find_detached(connection: Connection) -> list[MarkedPod]:
    """All pods that are out of their ReplicaSets, of any plan. Raises ClusterError."""
    found = []
    for page in connection.pages(ALL_PODS):
        for item in decoded(connection, f"GET {ALL_PODS}", page, _Pods).items or ():
            metadata = item.metadata
            detachment = metadata.detachment()
            if detachment is not None and not metadata.deletion:
                reference = metadata.namespace, metadata.name, metadata.uid
                found.append(MarkedPod(*reference, detachment.plan, detachment.expires))
    return found


def give_all_back(connection: Connection, pods: Sequence[MarkedPod]) -> list[MarkedPod]:
    """Give these pods back; those that were out. Raises ClusterError, after all of them were tried."""
    back = all_tried(partial(give_back, connection, pod.namespace, pod.name, pod.uid) for pod in pods)
    return list(compress(pods, back))


def give_plan_back(connection: Connection, is_meant: Callable[[str], bool]) -> list[MarkedPod]:
    """Give back whatever plans took out that are meant; a pod that does not say whose it is is nobody's.

    Raises ClusterError, after all of them were tried.
    """
    return give_all_back(connection, [pod for pod in find_detached(connection) if is_meant(pod.plan_id)])


def _undo(found: _Metadata, detachment: Detachment) -> dict[str, Any]:
    """Its own ReplicaSet takes the pod again by the label; one that somebody else has changed meanwhile is left."""
    is_ours = (found.labels or {}).get(detachment.label) == detachment.leaving_value
    labels = {detachment.label: detachment.value} if is_ours else {}
    metadata: dict[str, Any] = {"uid": found.uid, "resourceVersion": found.resource_version}
    return {"metadata": {**metadata, "labels": labels, "annotations": {SURGE: None}}}
