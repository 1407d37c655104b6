"""Turns decoded objects of all kinds into the model's, one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rescheduler.adapters.kubernetes.conversion import storage, workload
from rescheduler.adapters.kubernetes.conversion.disruption_budget import disruption_budget
from rescheduler.adapters.kubernetes.conversion.metadata import SharedMetadata
from rescheduler.adapters.kubernetes.conversion.node import NodeConversion
from rescheduler.adapters.kubernetes.conversion.pod import PodConversion
from rescheduler.adapters.kubernetes.conversion.pod_autoscaler import pod_autoscaler
from rescheduler.adapters.kubernetes.conversion.quota import resource_quota
from rescheduler.adapters.kubernetes.decoding.errors import ObjectError
from rescheduler.adapters.kubernetes.kinds import WORKLOAD_KINDS

Warn = Callable[[str], None]


class ObjectConversion:
    """What equal objects have in common is one object in memory; the caches for that are bounded."""

    def __init__(self, warn: Warn, shared: SharedMetadata | None = None) -> None:
        """``warn`` is told of what cannot be used. ``shared``: to share with further conversions, of other threads."""
        self._converters = _all_converters(warn, shared or SharedMetadata())

    def convert(self, kind: str, found: Any) -> Any:
        """The model's object; uses up what was decoded. Raises ObjectError with the object's name."""
        try:
            return self._converters[kind](found)
        except ObjectError as error:
            raise ObjectError(error.path, error.problem, _label(kind, found)) from error


def lacks_priority(kind: str, found: Any) -> bool:
    """Whether this is a pod that leaves its priority to its class, as no pod does that went through admission."""
    return kind == "Pod" and found.spec is not None and found.spec.priority is None


def _all_converters(warn: Warn, shared: SharedMetadata) -> dict[str, Callable[[Any], Any]]:
    found: dict[str, Callable[[Any], Any]] = {
        "Pod": PodConversion(warn, shared).convert,
        "Node": NodeConversion(warn, shared).convert,
        "Namespace": lambda item: workload.namespace(item, shared),
        "Service": workload.service,
        "PodDisruptionBudget": disruption_budget,
        "ResourceQuota": lambda item: resource_quota(item, warn),
        "HorizontalPodAutoscaler": lambda item: pod_autoscaler(item, warn),
        "PriorityClass": workload.priority_class,
        "PersistentVolumeClaim": lambda item: storage.claim(item, shared),
        "PersistentVolume": lambda item: storage.volume(item, shared),
        "StorageClass": storage.storage_class,
        "CSINode": storage.csi_node,
        "CSIDriver": storage.csi_driver,
        "CSIStorageCapacity": storage.csi_capacity,
        "VolumeAttachment": storage.attachment,
    }
    for kind in WORKLOAD_KINDS:
        found[kind] = partial(workload.workload, kind, shared=shared)
    return found


def _label(kind: str, found: Any) -> str:
    meta = found.metadata
    if meta is None or not meta.name:
        return f"{kind} (without a name)"
    return f"{kind} {meta.namespace}/{meta.name}" if meta.namespace else f"{kind} {meta.name}"
