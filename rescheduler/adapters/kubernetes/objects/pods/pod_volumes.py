"""Volumes of a pod, as far as they bind it to a place or hold data."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Raw

from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import NULL
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import PodSpecObject
from rescheduler.model.objects.constraints import Volume

# Filled from the API or a registry wherever the pod starts: they bind nothing and hold nothing.
_WEIGHTLESS: Final = frozenset({"configMap", "secret", "projected", "downwardAPI", "image"})
_KINDS: Final = {
    "persistentVolumeClaim": "PersistentVolumeClaim",
    "ephemeral": "Ephemeral",
    "emptyDir": "EmptyDir",
    "hostPath": "HostPath",
    "gcePersistentDisk": "GCEPersistentDisk",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "iscsi": "ISCSI",
    "rbd": "RBD",
}
_TOKEN_VOLUME: Final = re.compile(rb"kube-api-access-[a-z0-9]{5}")
_LARGEST_CACHE: Final = 20_000
_EMPTY_DIR: Final = Volume("EmptyDir")
_IDENTITIES: Final = {
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "iscsi": ("iqn",),
    "rbd": ("pool", "image"),
}


class PodVolumes:
    """Volumes of many pods; those of replicas are decoded once.

    Replicas differ in the generated name of their token's volume, which binds nothing.
    """

    def __init__(self) -> None:
        """Start empty; one instance for one snapshot."""
        self._by_text: dict[bytes, tuple[Volume, ...]] = {}

    def of(self, spec: PodSpecObject, pod_name: str) -> tuple[Volume, ...]:
        """The pod's volumes but for those that bind nothing. Raises ObjectError."""
        text = _TOKEN_VOLUME.sub(b"", spec.volumes)
        found = self._by_text.get(text)
        if found is None:
            found = pod_volumes(bytes(spec.volumes), pod_name)
            if not any(volume.claim for volume in found):  # claims are a pod's own more often than not
                if len(self._by_text) >= _LARGEST_CACHE:
                    self._by_text.clear()
                self._by_text[text] = found
        return found


def pod_volumes(text: bytes, pod_name: str) -> tuple[Volume, ...]:
    """``spec.volumes`` but for those that bind nothing. Raises ObjectError."""
    if text in NULL:
        return ()
    found: list[Volume] = []
    for number, volume in enumerate(decode(text, list[dict[str, Raw]], "spec.volumes")):
        types = [name for name, raw in volume.items() if name != "name" and bytes(raw) not in NULL]
        path = f"spec.volumes[{number}]"
        found.extend(_volume(name, volume, pod_name, path) for name in types if name not in _WEIGHTLESS)
        if not types:
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
