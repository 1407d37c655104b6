"""Fields of volumes, claims, storage classes and CSI objects."""

from __future__ import annotations

from typing import Any

from msgspec import field

from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    ApiStruct,
    LabelSelectorObject,
    NodeSelectorObject,
    ObjectMeta,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import Count


class ClaimResources(ApiStruct):
    """The size that a claim asks for, under ``storage``."""

    requests: dict[str, Any] | None = None


class ClaimSpec(ApiStruct):
    """What a claim asks for."""

    access_modes: list[str] | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None
    resources: ClaimResources | None = None
    selector: LabelSelectorObject | None = None


class PhaseStatus(ApiStruct):
    """The phase of a claim or volume."""

    phase: str | None = None


class ClaimObject(ApiStruct):
    """A PersistentVolumeClaim."""

    metadata: ObjectMeta | None = None
    spec: ClaimSpec | None = None
    status: PhaseStatus | None = None


class ClaimReference(ApiStruct):
    """The claim that a volume is bound to."""

    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class CsiSource(ApiStruct):
    """A CSI volume's driver and the driver's name for it."""

    driver: str | None = None
    volume_handle: str | None = None


class VolumeNodeAffinity(ApiStruct):
    """On which nodes a volume can be used."""

    required: NodeSelectorObject | None = None


class VolumeSpec(ApiStruct):
    """A persistent volume's properties."""

    capacity: dict[str, Any] | None = None
    access_modes: list[str] | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiSource | None = None


class VolumeObject(ApiStruct):
    """A PersistentVolume."""

    metadata: ObjectMeta | None = None
    spec: VolumeSpec | None = None
    status: PhaseStatus | None = None


class TopologyExpression(ApiStruct):
    """A label that must have one of some values."""

    key: str
    values: list[str] | None = None


class TopologyTerm(ApiStruct):
    """One term of a storage class's allowed topologies."""

    match_label_expressions: list[TopologyExpression] | None = None


class StorageClassObject(ApiStruct):
    """A StorageClass."""

    metadata: ObjectMeta | None = None
    provisioner: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologyTerm] | None = None


class DriverAllocatable(ApiStruct):
    """How many volumes of a driver fit."""

    count: Count | None = None


class CsiNodeDriver(ApiStruct):
    """One driver on a node."""

    name: str
    allocatable: DriverAllocatable | None = None


class CsiNodeSpec(ApiStruct):
    """The drivers on a node."""

    drivers: list[CsiNodeDriver] | None = None


class CsiNodeObject(ApiStruct):
    """A CSINode."""

    metadata: ObjectMeta | None = None
    spec: CsiNodeSpec | None = None


class CsiDriverSpec(ApiStruct):
    """Whether provisioning looks at capacities."""

    storage_capacity: bool | None = None


class CsiDriverObject(ApiStruct):
    """A CSIDriver."""

    metadata: ObjectMeta | None = None
    spec: CsiDriverSpec | None = None


class CsiStorageCapacityObject(ApiStruct):
    """A CSIStorageCapacity."""

    storage_class_name: str
    metadata: ObjectMeta | None = None
    node_topology: LabelSelectorObject | None = None
    capacity: Any = None
    maximum_volume_size: Any = None


class AttachmentSource(ApiStruct):
    """What is attached; a volume written into a pod directly has no name."""

    persistent_volume_name: str | None = None


class AttachmentSpec(ApiStruct):
    """What is attached where, and by whom."""

    attacher: str
    node_name: str
    source: AttachmentSource = field(default_factory=AttachmentSource)


class VolumeAttachmentObject(ApiStruct):
    """A VolumeAttachment."""

    spec: AttachmentSpec
    metadata: ObjectMeta | None = None
