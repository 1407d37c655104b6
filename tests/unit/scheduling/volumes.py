"""Claims, volumes and classes for tests of the storage rules."""

from __future__ import annotations

from typing import Any

from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement, Volume
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from tests.builders import pod

GIB = 1 << 30
ZONE = "topology.kubernetes.io/zone"
LATER = StorageClass("later", "csi.example.com", is_wait_for_first_consumer=True)
AT_ONCE = StorageClass("at-once", "csi.example.com")
LOCAL = StorageClass("local", "kubernetes.io/no-provisioner", is_wait_for_first_consumer=True)


def where(key: str, *values: str) -> tuple[NodeSelectorTerm, ...]:
    """A node affinity by one label."""
    return (NodeSelectorTerm((Requirement(key, "In", values),)),)


def claim(name: str, volume: str = "", **fields: Any) -> PersistentVolumeClaim:
    """A claim; bound if it names a volume."""
    defaults: dict[str, Any] = {
        "uid": f"uid-{name}",
        "volume_name": volume,
        "is_bound": bool(volume),
        "phase": "Bound" if volume else "Pending",
        "storage_class": "later",
        "access_modes": ("ReadWriteOnce",),
        "requested_bytes": GIB,
    }
    return PersistentVolumeClaim("default", name, **{**defaults, **fields})


def volume(name: str, **fields: Any) -> PersistentVolume:
    """A volume that is free to be bound."""
    defaults: dict[str, Any] = {
        "storage_class": "later",
        "capacity_bytes": GIB,
        "access_modes": ("ReadWriteOnce",),
        "driver": "csi.example.com",
        "handle": f"handle-{name}",
    }
    return PersistentVolume(name, **{**defaults, **fields})


def user(name: str, *claims: str, node: str | None = None, **fields: Any) -> Pod:
    """A pod that uses these claims."""
    volumes = tuple(Volume("PersistentVolumeClaim", claim=claim) for claim in claims)
    return pod(name, node=node, **{"volumes": volumes, **fields})
