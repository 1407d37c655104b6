"""Decoded volumes, claims, storage classes and CSI objects, as the model has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from rescheduler.adapters.kubernetes.objects import storage_fields as decoded
from rescheduler.adapters.kubernetes.objects.decoding.amounts import BEYOND, bytes_of
from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    ObjectMeta,
    SharedMetadata,
    annotations_like,
    name_of,
    namespace_of,
)
from rescheduler.adapters.kubernetes.objects.decoding.selectors import label_selector, node_selector_terms
from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement
from rescheduler.model.objects.resources import LARGEST_AMOUNT
from rescheduler.model.objects.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
DEFAULT_CLASSES: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
STORAGE_ANNOTATIONS: Final = frozenset({BIND_COMPLETED, SELECTED_NODE, STORAGE_CLASS, *DEFAULT_CLASSES})
_TOO_LARGE: Final = f"spec.resources.requests.storage is more than {LARGEST_AMOUNT} bytes"
_TEXT: Final = re.compile("|".join([r"\\", *(re.escape(key) for key in sorted(STORAGE_ANNOTATIONS))]).encode())


def claim(found: decoded.ClaimObject, shared: SharedMetadata) -> PersistentVolumeClaim:
    """A PersistentVolumeClaim. Raises ObjectError."""
    meta, spec = found.metadata or ObjectMeta(), found.spec or decoded.ClaimSpec()
    marks = _annotations(meta)
    requested = (spec.resources or decoded.ClaimResources()).requests or {}
    is_bound = bool(spec.volume_name) and BIND_COMPLETED in marks
    requested_bytes = bytes_of(requested.get("storage"), "spec.resources.requests.storage")
    return PersistentVolumeClaim(
        namespace=namespace_of(meta),
        name=name_of(meta),
        uid=meta.uid or "",
        volume_name=spec.volume_name or "",
        is_bound=is_bound,
        phase=(found.status or decoded.PhaseStatus()).phase or "Pending",
        storage_class=marks.get(STORAGE_CLASS) or spec.storage_class_name or "",
        access_modes=tuple(spec.access_modes or ()),
        volume_mode=spec.volume_mode or "Filesystem",
        requested_bytes=requested_bytes,
        selector=label_selector(spec.selector),
        selected_node=marks.get(SELECTED_NODE) or None,
        owners=shared.owners(meta),
        is_terminating=bool(meta.deletion_timestamp),
        problem=_TOO_LARGE if requested_bytes == BEYOND and not is_bound else None,
    )


def volume(found: decoded.VolumeObject, shared: SharedMetadata) -> PersistentVolume:
    """A PersistentVolume. Raises ObjectError."""
    meta, spec = found.metadata or ObjectMeta(), found.spec or decoded.VolumeSpec()
    bound, csi = spec.claim_ref, spec.csi or decoded.CsiSource()
    return PersistentVolume(
        name=name_of(meta),
        uid=meta.uid or "",
        storage_class=_annotations(meta).get(STORAGE_CLASS) or spec.storage_class_name or "",
        capacity_bytes=bytes_of((spec.capacity or {}).get("storage"), "spec.capacity.storage"),
        access_modes=tuple(spec.access_modes or ()),
        volume_mode=spec.volume_mode or "Filesystem",
        node_affinity=node_selector_terms((spec.node_affinity or decoded.VolumeNodeAffinity()).required),
        labels=shared.labels(meta),
        claim=None if bound is None else (bound.namespace or "", bound.name or "", bound.uid or ""),
        phase=(found.status or decoded.PhaseStatus()).phase or "Available",
        driver=csi.driver or "",
        handle=csi.volume_handle or "",
        is_terminating=bool(meta.deletion_timestamp),
    )


def storage_class(found: decoded.StorageClassObject) -> StorageClass:
    """A StorageClass. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    marks = _annotations(meta)
    return StorageClass(
        name=name_of(meta),
        provisioner=found.provisioner or "",
        is_wait_for_first_consumer=found.volume_binding_mode == "WaitForFirstConsumer",
        allowed_topologies=None
        if not found.allowed_topologies
        else tuple(_topology_term(term) for term in found.allowed_topologies),
        is_default=any(marks.get(key) == "true" for key in DEFAULT_CLASSES),
    )


def csi_node(found: decoded.CsiNodeObject) -> CsiNode:
    """A CSINode. Raises ObjectError."""
    drivers = (found.spec or decoded.CsiNodeSpec()).drivers or ()
    return CsiNode(
        name_of(found.metadata),
        tuple((driver.name, driver.allocatable.count if driver.allocatable else None) for driver in drivers),
    )


def csi_driver(found: decoded.CsiDriverObject) -> CsiDriver:
    """A CSIDriver. Raises ObjectError."""
    return CsiDriver(name_of(found.metadata), bool((found.spec or decoded.CsiDriverSpec()).storage_capacity))


def csi_capacity(found: decoded.CsiStorageCapacityObject) -> CsiStorageCapacity:
    """A CSIStorageCapacity. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    largest = found.maximum_volume_size
    return CsiStorageCapacity(
        namespace=namespace_of(meta),
        name=name_of(meta),
        storage_class=found.storage_class_name,
        node_topology=label_selector(found.node_topology),
        capacity_bytes=bytes_of(found.capacity, "capacity"),
        maximum_volume_bytes=None if largest is None else bytes_of(largest, "maximumVolumeSize"),
    )


def attachment(found: decoded.VolumeAttachmentObject) -> VolumeAttachment:
    """A VolumeAttachment. Raises ObjectError."""
    spec = found.spec
    return VolumeAttachment(
        name_of(found.metadata), spec.attacher, spec.node_name, spec.source.persistent_volume_name or ""
    )


def _topology_term(term: decoded.TopologyTerm) -> NodeSelectorTerm:
    rules = term.match_label_expressions or ()
    return NodeSelectorTerm(tuple(Requirement(rule.key, "In", tuple(rule.values or ())) for rule in rules))


def _annotations(meta: ObjectMeta) -> Mapping[str, str]:
    return annotations_like(meta, _TEXT, STORAGE_ANNOTATIONS.__contains__)
