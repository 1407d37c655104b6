"""Volumes and what decides where they can be attached."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm
from rescheduler.model.objects.pod import OwnerReference


class PersistentVolumeClaim(Struct, frozen=True, gc=False):
    """A claim. ``is_bound`` needs both a volume name and the annotation ``pv.kubernetes.io/bind-completed``.

    ``problem`` says why the size that it waits for cannot be counted.
    """

    namespace: str
    name: str
    uid: str = ""
    volume_name: str = ""
    is_bound: bool = False
    phase: str = "Pending"
    storage_class: str = ""
    access_modes: tuple[str, ...] = ()
    volume_mode: str = "Filesystem"
    requested_bytes: int = 0
    selector: LabelSelector | None = None
    selected_node: str | None = None
    owners: tuple[OwnerReference, ...] = ()
    is_terminating: bool = False
    problem: str | None = None


class PersistentVolume(Struct, frozen=True, gc=False):
    """A volume. ``node_affinity`` None: any node. ``driver``: its CSI driver, or "" for other types."""

    name: str
    uid: str = ""
    storage_class: str = ""
    capacity_bytes: int = 0
    access_modes: tuple[str, ...] = ()
    volume_mode: str = "Filesystem"
    node_affinity: tuple[NodeSelectorTerm, ...] | None = None
    labels: Mapping[str, str] = {}
    claim: tuple[str, str, str] | None = None  # namespace, name, uid
    phase: str = "Available"
    driver: str = ""
    handle: str = ""
    is_terminating: bool = False


class StorageClass(Struct, frozen=True, gc=False):
    """A storage class. ``allowed_topologies`` None: anywhere."""

    name: str
    provisioner: str = ""
    is_wait_for_first_consumer: bool = False
    allowed_topologies: tuple[NodeSelectorTerm, ...] | None = None
    is_default: bool = False


class CsiNode(Struct, frozen=True, gc=False):
    """How many volumes of each CSI driver a node can hold; None: no limit."""

    name: str
    drivers: tuple[tuple[str, int | None], ...] = ()


class CsiDriver(Struct, frozen=True, gc=False):
    """A CSI driver; ``has_storage_capacity``: provisioning looks at CSIStorageCapacity objects."""

    name: str
    has_storage_capacity: bool = False


class CsiStorageCapacity(Struct, frozen=True, gc=False):
    """Room left for a storage class in one topology segment (None selector: nowhere)."""

    namespace: str
    name: str
    storage_class: str
    node_topology: LabelSelector | None = None
    capacity_bytes: int = 0
    maximum_volume_bytes: int | None = None


class VolumeAttachment(Struct, frozen=True, gc=False):
    """A volume attached, or being attached, to a node."""

    name: str
    attacher: str
    node_name: str
    volume_name: str
