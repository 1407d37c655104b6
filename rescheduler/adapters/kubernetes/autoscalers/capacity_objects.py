"""The objects that one request for room is made of, by each way to ask, and what they tell when read back."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import quote

from rescheduler.adapters.kubernetes.guidance.placeholders import IMAGE, expiry
from rescheduler.adapters.kubernetes.rights.rights import Right
from rescheduler.model.daemon.capacity import CAPACITY, FOR, CapacityRequest, PodSet, StandingRequest
from rescheduler.model.objects.annotations import EXPIRES, MANAGED_BY, OURS, SAFE_TO_EVICT
from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement, Toleration
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources
from rescheduler.model.printable import printable
from rescheduler.model.times import read_time

# The pod that stands for a pending one where an autoscaler is asked for room: its needs, and nothing else of it.

PRIORITY_CLASS: Final = "rescheduler-placeholder"
"""Lower than any ordinary pod's, so that each of them takes a placeholder's room; deploy/autoscaler.yaml brings it."""
_NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


def template(request_name: str, shape: PodSet, *, is_placeholder: bool) -> dict[str, Any]:
    """The template of pods with a shape's needs.

    Resources, node selector, required node affinity, tolerations and (but for placeholders) host ports are those of the
    pod that waits; its volumes, spread and affinity to other pods are not, since they mean its own namespace.
    """
    return {
        "metadata": {
            "labels": {MANAGED_BY: OURS, CAPACITY: request_name},
            "annotations": {SAFE_TO_EVICT: "true"},
        },
        "spec": _spec(shape.spec, is_placeholder=is_placeholder),
    }


def _spec(spec: PodSpec, *, is_placeholder: bool) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "room",
        "image": IMAGE,
        "resources": _resources(spec.requests),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    if spec.host_ports and not is_placeholder:  # a restricted namespace lets no pod in that has some
        container["ports"] = [
            {"containerPort": item.port, "hostPort": item.port, "protocol": item.protocol, "hostIP": item.host_ip}
            for item in spec.host_ports
        ]
    found: dict[str, Any] = {
        "restartPolicy": "Never",
        "schedulerName": spec.scheduler_name,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"}},
        "nodeSelector": dict(spec.node_selector),
        "tolerations": [_toleration(item) for item in spec.tolerations],
        "containers": [container],
    }
    terms = spec.node_affinity.required if spec.node_affinity is not None else None
    if terms:
        required = {"nodeSelectorTerms": [_term(term) for term in terms]}
        found["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if is_placeholder:
        found["priorityClassName"] = PRIORITY_CLASS
    return found


def _resources(requests: Resources) -> dict[str, dict[str, str]]:
    """Requests as Kubernetes writes them; what cannot be overcommitted needs equal limits."""
    amounts = {name: f"{amount}m" if name == CPU else str(amount) for name, amount in requests}
    limits = {name: amount for name, amount in amounts.items() if name not in _NATIVE}
    return {"requests": amounts, **({"limits": limits} if limits else {})}


def _toleration(item: Toleration) -> dict[str, Any]:
    parts = {"key": item.key, "operator": item.operator or "Equal", "value": item.value, "effect": item.effect}
    return {name: value for name, value in parts.items() if value}


def _term(term: NodeSelectorTerm) -> dict[str, Any]:
    parts = (("matchExpressions", term.expressions), ("matchFields", term.fields))
    return {name: [_rule(item) for item in rules] for name, rules in parts if rules}


def _rule(item: Requirement) -> dict[str, Any]:
    values = {"values": list(item.values)} if item.values else {}
    return {"key": item.key, "operator": item.operator, **values}


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
