"""Volumes of a pod, as far as they bind it to a place or hold data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Raw

from rescheduler.adapters.kubernetes.conversion.metadata import NULL
from rescheduler.adapters.kubernetes.decoding.decode import decode
from rescheduler.adapters.kubernetes.decoding.errors import ObjectError
from rescheduler.model.constraints import Volume

# Filled from the API or a registry wherever the pod starts: they bind nothing and hold nothing.
_PASSED_OVER: Final = frozenset({"name", "configMap", "secret", "projected", "downwardAPI", "image"})
_KINDS: Final = {
    "persistentVolumeClaim": "PersistentVolumeClaim",
    "ephemeral": "Ephemeral",
    "hostPath": "HostPath",
    "gcePersistentDisk": "GCEPersistentDisk",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "iscsi": "ISCSI",
    "rbd": "RBD",
}
_EMPTY_DIR: Final = Volume("EmptyDir")
_IDENTITIES: Final = {
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "iscsi": ("iqn",),
    "rbd": ("pool", "image"),
}


def pod_volumes(volumes: Sequence[dict[str, Raw]] | None, pod_name: str) -> tuple[Volume, ...]:
    """The pod's volumes but for those that bind nothing. Raises ObjectError."""
    if not volumes:
        return ()
    found: list[Volume] = []
    for volume in volumes:
        for name in volume:
            if name in _PASSED_OVER:
                continue
            if name == "emptyDir":
                found.append(_EMPTY_DIR)
            elif bytes(volume[name]) not in NULL:
                found.append(_volume(name, volume, pod_name, f"spec.volumes[{volumes.index(volume)}]"))
        if len(volume) < 2:
            found.append(_EMPTY_DIR)  # the API's meaning of a volume without a type
    return tuple(found)


def _volume(type_name: str, volume: dict[str, Raw], pod_name: str, path: str) -> Volume:
    where = f"{path}.{type_name}"
    fields = decode(volume[type_name], dict[str, Any], where)
    kind = _KINDS.get(type_name, type_name)
    is_read_only = fields.get("readOnly") is True
    if type_name == "persistentVolumeClaim":
        return Volume(kind, claim=_text(fields, "claimName", where), is_read_only=is_read_only)
    if type_name == "ephemeral":
        name = decode(volume["name"], str, f"{path}.name") if "name" in volume else ""
        return Volume(kind, claim=f"{pod_name}-{name}", is_read_only=is_read_only)
    identity = "/".join(str(fields.get(key, "")) for key in _IDENTITIES.get(type_name, ()))
    return Volume(kind, identity=identity, is_read_only=is_read_only)


def _text(fields: dict[str, Any], key: str, path: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise ObjectError(f"{path}.{key}", "is missing")
    return value
