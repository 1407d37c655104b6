"""The objects that one request for room is made of, by each way to ask, and what they tell when read back."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import quote

from rescheduler.adapters.kubernetes.capacity_pods import template
from rescheduler.adapters.kubernetes.placeholders import expiry
from rescheduler.adapters.kubernetes.rights import Right
from rescheduler.model.annotations import EXPIRES, MANAGED_BY, OURS
from rescheduler.model.capacity import CAPACITY, FOR, CapacityRequest, PodSet, StandingRequest
from rescheduler.model.moments import read_time
from rescheduler.model.printable import printable

PROVISIONING_REQUEST, CAPACITY_BUFFER, PLACEHOLDERS = "ProvisioningRequest", "CapacityBuffer", "Placeholders"
OUR_REQUESTS: Final = f"{MANAGED_BY}={OURS},{CAPACITY}"
"""Label selector of everything that is asked for, by any process."""
PROVISIONING_CLASS: Final = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
BUFFER_STRATEGY: Final = "buffer.x-k8s.io/active-capacity"
_GROUP: Final = "autoscaling.x-k8s.io"
_VERBS: Final = ("create", "get", "list", "delete")


class Collection(NamedTuple):
    """One kind of object that requests consist of. ``version``: group and version."""

    kind: str
    version: str
    resource: str

    def path(self, namespace: str, name: str = "") -> str:
        """Where they are, or one of them."""
        root = "/api/v1" if self.version == "v1" else f"/apis/{self.version}"
        path = f"{root}/namespaces/{quote(namespace, safe='')}/{self.resource}"
        return f"{path}/{quote(name, safe='')}" if name else path

    @property
    def rights(self) -> tuple[Right, ...]:
        """What is needed of them."""
        group = "" if self.version == "v1" else self.version.partition("/")[0]
        return tuple(Right(verb, self.resource, group) for verb in _VERBS)


TEMPLATES: Final = Collection("PodTemplate", "v1", "podtemplates")
COLLECTIONS: Final = {
    PROVISIONING_REQUEST: Collection(PROVISIONING_REQUEST, f"{_GROUP}/v1", "provisioningrequests"),
    CAPACITY_BUFFER: Collection(CAPACITY_BUFFER, f"{_GROUP}/v1beta1", "capacitybuffers"),
    PLACEHOLDERS: Collection("Job", "batch/v1", "jobs"),
}
"""By the way to ask; what is looked at to tell whether a request stands."""


class Made(NamedTuple):
    """An object to make."""

    collection: Collection
    body: dict[str, Any]


def objects_for(request: CapacityRequest, namespace: str, now: float) -> list[Made]:
    """All objects of a request, in the order in which they are made: what others refer to first.

    ``now``: seconds since the epoch, from which deadlines count.
    """
    seconds = max(1, int(request.expires_at - now))
    collection, single = COLLECTIONS[request.how], len(request.shapes) == 1
    names = [request.name if single else f"{request.name}-{number}" for number in range(len(request.shapes))]
    if request.how == PLACEHOLDERS:
        return [Made(collection, _job(request, name, number, namespace, seconds)) for number, name in enumerate(names)]
    templates = [
        Made(TEMPLATES, _object(request, TEMPLATES, name, namespace, template=_template(request, shape)))
        for name, shape in zip(names, request.shapes, strict=True)
    ]
    if request.how == CAPACITY_BUFFER:
        return templates + [
            Made(collection, _object(request, collection, name, namespace, spec=_buffer(name, shape.number)))
            for name, shape in zip(names, request.shapes, strict=True)
        ]
    pod_sets = [
        {"count": shape.number, "podTemplateRef": {"name": name}}
        for name, shape in zip(names, request.shapes, strict=True)
    ]
    spec = {
        "provisioningClassName": PROVISIONING_CLASS,
        "parameters": {"ValidUntilSeconds": str(seconds)},
        "podSets": pod_sets,
    }
    return [*templates, Made(collection, _object(request, collection, request.name, namespace, spec=spec))]


def _template(request: CapacityRequest, shape: PodSet) -> dict[str, Any]:
    return template(request.name, shape, is_placeholder=False)


def _buffer(name: str, replicas: int) -> dict[str, Any]:
    return {"provisioningStrategy": BUFFER_STRATEGY, "podTemplateRef": {"name": name}, "replicas": replicas}


def _job(request: CapacityRequest, name: str, number: int, namespace: str, seconds: int) -> dict[str, Any]:
    shape = request.shapes[number]
    spec = {
        "parallelism": shape.number,
        "completions": shape.number,
        "activeDeadlineSeconds": seconds,
        "ttlSecondsAfterFinished": 0,
        "backoffLimit": 0,
        "template": template(request.name, shape, is_placeholder=True),
    }
    return _object(request, COLLECTIONS[PLACEHOLDERS], name, namespace, spec=spec)


def _object(
    request: CapacityRequest, collection: Collection, name: str, namespace: str, **content: Any
) -> dict[str, Any]:
    return {
        "apiVersion": collection.version,
        "kind": collection.kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {MANAGED_BY: OURS, CAPACITY: request.name},
            "annotations": {
                EXPIRES: expiry(request.expires_at, 0),
                FOR: ",".join(pod.uid for pod in request.pods),
            },
        },
        **content,
    }


def standing_request(how: str, item: dict[str, Any]) -> StandingRequest:
    """What an object that was read back tells; one without a readable expiry has run out."""
    metadata = item.get("metadata") or {}
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    return StandingRequest(
        name=str(labels.get(CAPACITY, metadata.get("name", ""))),
        how=how,
        pods=tuple(uid for uid in str(annotations.get(FOR, "")).split(",") if uid),
        made_at=read_time(metadata.get("creationTimestamp")) or 0.0,
        expires_at=read_time(annotations.get(EXPIRES)) or 0.0,
        failure=_failure(how, item),
    )


def _failure(how: str, item: dict[str, Any]) -> str:
    """Why the autoscaler has given a request up."""
    if how != PROVISIONING_REQUEST:
        return ""
    for condition in (item.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "Failed" and condition.get("status") == "True":
            return printable(str(condition.get("message") or condition.get("reason") or "Failed"), 200)
    return ""
