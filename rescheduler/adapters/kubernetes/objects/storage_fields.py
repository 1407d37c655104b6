"""Fields of volumes, claims, storage classes and CSI objects."""

from __future__ import annotations

from typing import Any

from msgspec import field

from rescheduler.adapters.kubernetes.objects.metadata import (
    Decoded,
    LabelSelectorObject,
    NodeSelectorObject,
    ObjectMeta,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import Count


class ClaimResources(Decoded):
    """The size that a claim asks for, under ``storage``."""

    requests: dict[str, Any] | None = None


class ClaimSpec(Decoded):
    """What a claim asks for."""

    access_modes: list[str] | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None
    resources: ClaimResources | None = None
    selector: LabelSelectorObject | None = None


class PhaseStatus(Decoded):
    """The phase of a claim or volume."""

    phase: str | None = None


class ClaimObject(Decoded):
    """A PersistentVolumeClaim."""

    metadata: ObjectMeta | None = None
    spec: ClaimSpec | None = None
    status: PhaseStatus | None = None


class ClaimReference(Decoded):
    """The claim that a volume is bound to."""

    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class CsiSource(Decoded):
    """A CSI volume's driver and the driver's name for it."""

    driver: str | None = None
    volume_handle: str | None = None


class VolumeNodeAffinity(Decoded):
    """On which nodes a volume can be used."""

    required: NodeSelectorObject | None = None


class VolumeSpec(Decoded):
    """A persistent volume's properties."""

    capacity: dict[str, Any] | None = None
    access_modes: list[str] | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiSource | None = None


class VolumeObject(Decoded):
    """A PersistentVolume."""

    metadata: ObjectMeta | None = None
    spec: VolumeSpec | None = None
    status: PhaseStatus | None = None


class TopologyExpression(Decoded):
    """A label that must have one of some values."""

    key: str
    values: list[str] | None = None


class TopologyTerm(Decoded):
    """One term of a storage class's allowed topologies."""

    match_label_expressions: list[TopologyExpression] | None = None


class StorageClassObject(Decoded):
    """A StorageClass."""

    metadata: ObjectMeta | None = None
    provisioner: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologyTerm] | None = None


class DriverAllocatable(Decoded):
    """How many volumes of a driver fit."""

    count: Count | None = None


class CsiNodeDriver(Decoded):
    """One driver on a node."""

    name: str
    allocatable: DriverAllocatable | None = None


class CsiNodeSpec(Decoded):
    """The drivers on a node."""

    drivers: list[CsiNodeDriver] | None = None


class CsiNodeObject(Decoded):
    """A CSINode."""

    metadata: ObjectMeta | None = None
    spec: CsiNodeSpec | None = None


class CsiDriverSpec(Decoded):
    """Whether provisioning looks at capacities."""

    storage_capacity: bool | None = None


class CsiDriverObject(Decoded):
    """A CSIDriver."""

    metadata: ObjectMeta | None = None
    spec: CsiDriverSpec | None = None


class CsiStorageCapacityObject(Decoded):
    """A CSIStorageCapacity."""

    storage_class_name: str
    metadata: ObjectMeta | None = None
    node_topology: LabelSelectorObject | None = None
    capacity: Any = None
    maximum_volume_size: Any = None


class AttachmentSource(Decoded):
    """What is attached; a volume written into a pod directly has no name."""

    persistent_volume_name: str | None = None


class AttachmentSpec(Decoded):
    """What is attached where, and by whom."""

    attacher: str
    node_name: str
    source: AttachmentSource = field(default_factory=AttachmentSource)


class VolumeAttachmentObject(Decoded):
    """A VolumeAttachment."""

    spec: AttachmentSpec
    metadata: ObjectMeta | None = None
