"""Decoded objects cut down to what is needed: recordings hold no environment, no secrets, no scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Raw

from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects import workload
from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    NULL,
    ApiStruct,
    LabelSelectorObject,
    ObjectMeta,
    OwnerReferenceObject,
)
from rescheduler.adapters.kubernetes.objects.node import ContainerImage
from rescheduler.adapters.kubernetes.objects.pods import pod_fields as pod
from rescheduler.adapters.kubernetes.objects.storage import STORAGE_ANNOTATIONS
from rescheduler.adapters.kubernetes.objects.workload import replica_writes
from rescheduler.model.objects.annotations import STEERING_ANNOTATIONS, STEERING_PREFIXES

# Volume types that bind nothing are left out; of the others only these fields are kept.
_WEIGHTLESS: Final = ("configMap", "secret", "projected", "downwardAPI", "image")
_VOLUME_FIELDS: Final = ("claimName", "readOnly", "pdName", "volumeID", "iqn", "pool", "image")


class _Claim(ApiStruct):
    name: str = ""


def slim_bytes(kind: ObjectKind, found: Any) -> bytes:
    """A decoded object as JSON with its kind, holding nothing but the fields that are decoded. Raises ObjectError."""
    encoded = msgspec.json.encode(_slim(found))
    head = f'{{"apiVersion":"{kind.api_version}","kind":"{kind.name}"'.encode()
    return head + (b"," + encoded[1:] if encoded != b"{}" else b"}")


def _slim(found: Any) -> Any:
    """The object with every part that is still raw text cut down in turn."""
    if isinstance(found, list):
        return [_slim(item) for item in found]
    if isinstance(found, Raw):  # images of a node are the only raw texts in a list
        return decode(found, ContainerImage)
    if not isinstance(found, ApiStruct):
        return found
    for name in found.__struct_fields__:
        value = getattr(found, name)
        if isinstance(value, Raw):
            text = bytes(value)
            if text not in NULL:
                setattr(found, name, Raw(msgspec.json.encode(cut_of(type(found), name)(text))))
        elif isinstance(value, list | ApiStruct):
            setattr(found, name, _slim(value))
    return found


def cut_of(owner: type, name: str) -> Callable[[bytes], Any]:
    """What cuts down the raw text of a struct's field. Raises KeyError for a field that nobody has thought of."""
    # A struct may add fields to another's, whose own are cut down as ever.
    keys = [(ancestor, name) for ancestor in owner.__mro__]
    rule = next((_RULES[key] for key in keys if key in _RULES), None)
    if rule is not None:
        return rule
    wanted = next((_TYPES[key] for key in keys if key in _TYPES), None)
    if wanted is None:
        raise KeyError(f"{owner.__name__}.{name}")
    return lambda text: _typed(text, wanted)


def _typed(text: bytes, wanted: Any) -> Any:
    return _slim(decode(text, wanted))


def _annotations(text: bytes) -> dict[str, Raw]:
    found = decode(text, dict[str, Raw], "metadata.annotations")
    return {
        key: value
        for key, value in found.items()
        if key in STEERING_ANNOTATIONS or key in STORAGE_ANNOTATIONS or key.startswith(STEERING_PREFIXES)
    }


def _volumes(text: bytes) -> list[dict[str, Any]]:
    found = decode(text, list[dict[str, Any]], "spec.volumes")
    return [_volume(volume) for volume in found if not any(volume.get(name) is not None for name in _WEIGHTLESS)]


def _volume(volume: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: part for key, part in value.items() if key in _VOLUME_FIELDS} if isinstance(value, dict) else value
        for name, value in volume.items()
    }


def _selector(text: bytes) -> Any:
    """A selector, or the bare labels of a ReplicationController."""
    found = decode(text, dict[str, Any], "spec.selector")
    is_selector = not found or any(isinstance(value, dict | list) for value in found.values())
    return _typed(text, LabelSelectorObject) if is_selector else found


def _replica_writes(text: bytes) -> list[dict[str, Any]]:
    """When the number of replicas was written, without by whom and what else."""
    return [{"time": entry.time, "fieldsV1": {"f:spec": {"f:replicas": {}}}} for entry in replica_writes(text)]


def _presence(text: bytes) -> dict[str, bool]:
    """That something is there, without what it is."""
    return {"isPresent": True} if decode(text, dict[str, Any]) else {}


_RULES: Final[dict[tuple[type[ApiStruct], str], Callable[[bytes], Any]]] = {
    (ObjectMeta, "annotations"): _annotations,
    (pod.PodSpecObject, "scheduling_group"): _presence,
    (pod.PodSpecObject, "workload_ref"): _presence,
    (pod.PodSpecObject, "volumes"): _volumes,
    (workload.WorkloadMeta, "managed_fields"): _replica_writes,
    (workload.WorkloadSpec, "selector"): _selector,
}
_TYPES: Final[dict[tuple[type[ApiStruct], str], Any]] = {
    (ObjectMeta, "labels"): dict[str, str],
    (ObjectMeta, "owner_references"): list[OwnerReferenceObject],
    (pod.Container, "resources"): pod.ResourceRequirements,
    (pod.Container, "ports"): list[pod.ContainerPort],
    (pod.Affinity, "node_affinity"): pod.NodeAffinityObject,
    (pod.Affinity, "pod_affinity"): pod.PodAffinityObject,
    (pod.Affinity, "pod_anti_affinity"): pod.PodAffinityObject,
    (pod.PodSpecObject, "node_selector"): dict[str, str],
    (pod.PodSpecObject, "tolerations"): list[pod.TolerationObject],
    (pod.PodSpecObject, "topology_spread_constraints"): list[pod.TopologySpreadConstraintObject],
    (pod.PodSpecObject, "overhead"): dict[str, Any],
    (pod.PodSpecObject, "resources"): pod.ResourceRequirements,
    (pod.PodSpecObject, "resource_claims"): list[_Claim],
    (pod.ContainerStatus, "state"): pod.ContainerState,
    (pod.PodStatus, "ephemeral_container_statuses"): list[pod.ContainerStatus],
    (pod.ContainerStatus, "resources"): pod.ResourceRequirements,
    (pod.ContainerStatus, "allocated_resources"): dict[str, Any],
}
