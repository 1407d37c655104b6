"""Decoded workloads, budgets and what else stands around pods, as the model has them."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Raw

from rescheduler.adapters.kubernetes.conversion.metadata import (
    NULL,
    SharedMetadata,
    annotations_like,
    name_of,
    namespace_of,
)
from rescheduler.adapters.kubernetes.conversion.replica_writes import scaled_at
from rescheduler.adapters.kubernetes.conversion.selectors import equal_labels, label_selector
from rescheduler.adapters.kubernetes.decoding.decode import decode
from rescheduler.adapters.kubernetes.decoding.metadata import LabelSelectorObject, ObjectMeta
from rescheduler.adapters.kubernetes.decoding.workload import (
    NamespaceObject,
    PriorityClassObject,
    ServiceObject,
    ServiceSpec,
    WorkloadMeta,
    WorkloadObject,
    WorkloadSpec,
    WorkloadStatus,
)
from rescheduler.model.annotations import OUR_PREFIX
from rescheduler.model.constraints import LabelSelector
from rescheduler.model.printable import shortened
from rescheduler.model.workload import Namespace, PriorityClass, Service, Workload

_OURS: Final = re.compile(re.escape(OUR_PREFIX).encode())
# The whole last-applied object stands among a workload's annotations, so they are decoded only if ours is among them.


def workload(kind: str, found: WorkloadObject, shared: SharedMetadata) -> Workload:
    """A workload of one of the kinds that make pods. Raises ObjectError."""
    meta, spec = found.metadata or WorkloadMeta(), found.spec or WorkloadSpec()
    status = found.status or WorkloadStatus()
    controllers = [owner for owner in shared.owners(meta) if owner.is_controller]
    ready, updated, current = _counts(kind, status)
    return Workload(
        kind=kind,
        namespace=namespace_of(meta),
        name=name_of(meta),
        uid=meta.uid or "",
        owner=controllers[0] if len(controllers) == 1 else None,
        selector=_selector(kind, spec.selector),
        desired_replicas=_desired(kind, spec, status),
        ready_replicas=ready,
        updated_replicas=updated,
        current_replicas=current,
        generation=meta.generation or 0,
        observed_generation=status.observed_generation or 0,
        is_paused=bool(spec.paused or spec.suspend),
        is_terminating=bool(meta.deletion_timestamp),
        failure=_failure(status),
        annotations=annotations_like(meta, _OURS, _is_ours),
        scaled_at=scaled_at(bytes(meta.managed_fields)),
    )


def _is_ours(key: str) -> bool:
    return key.startswith(OUR_PREFIX)


def _failure(status: WorkloadStatus) -> str:
    """Why pods cannot be made; conditions of Jobs and others have other types."""
    for condition in status.conditions or ():
        if condition.type == "ReplicaFailure" and condition.status == "True":
            return shortened(condition.reason or condition.type, 60)
    return ""


def _selector(kind: str, raw: Raw) -> LabelSelector | None:
    text = bytes(raw)
    if text in NULL:
        return None
    if kind == "ReplicationController":
        return LabelSelector(equal_labels(decode(text, dict[str, str], "spec.selector")))
    return label_selector(decode(text, LabelSelectorObject, "spec.selector"))


def _desired(kind: str, spec: WorkloadSpec, status: WorkloadStatus) -> int | None:
    if kind == "DaemonSet":
        return status.desired_number_scheduled
    written = spec.parallelism if kind == "Job" else spec.replicas
    return 1 if written is None else written


def _counts(kind: str, status: WorkloadStatus) -> tuple[int | None, int | None, int | None]:
    """Ready, updated and current replicas. A status leaves zeros out; one that says nothing at all leaves None."""
    if kind == "DaemonSet":
        counts = (status.number_ready, status.updated_number_scheduled, status.current_number_scheduled)
    elif kind == "Job":
        counts = (status.ready, None, status.active)
    else:
        has_revisions = kind in ("Deployment", "StatefulSet")
        counts = (
            status.ready_replicas,
            (status.updated_replicas or 0) if has_revisions else status.replicas,
            status.replicas,
        )
    says_something = status.observed_generation is not None or any(
        count is not None for count in (status.replicas, status.ready_replicas, status.number_ready, status.active)
    )
    if not says_something:
        return None, None, None
    ready, updated, current = counts
    return ready or 0, updated or 0, current or 0


def namespace(found: NamespaceObject, shared: SharedMetadata) -> Namespace:
    """A Namespace. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    return Namespace(name_of(meta), shared.labels(meta), shared.annotations(meta))


def service(found: ServiceObject) -> Service:
    """A Service. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    return Service(namespace_of(meta), name_of(meta), (found.spec or ServiceSpec()).selector or {})


def priority_class(found: PriorityClassObject) -> PriorityClass:
    """A PriorityClass. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    return PriorityClass(
        name=name_of(meta),
        value=found.value,
        preemption_policy=found.preemption_policy or "PreemptLowerPriority",
        is_default=bool(found.global_default),
    )
