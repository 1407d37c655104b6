"""Decoded workloads, budgets and what else stands around pods, as the model has them."""

from __future__ import annotations

import re
from typing import Annotated, Final

from msgspec import DecodeError, Meta, Raw, ValidationError, field, json

from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    NULL,
    ApiStruct,
    Condition,
    LabelSelectorObject,
    ObjectMeta,
    SharedMetadata,
    annotations_like,
    name_of,
    namespace_of,
)
from rescheduler.adapters.kubernetes.objects.decoding.selectors import equal_labels, label_selector, unknown_rules
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import Count, SmallInt
from rescheduler.model.objects.annotations import OUR_PREFIX
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.workload import (
    DisruptionBudget,
    Namespace,
    NetworkPolicy,
    PriorityClass,
    Service,
    Workload,
)
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time

# Fields of the objects that recreate pods, of PodDisruptionBudgets, and of what else stands around pods.

Generation = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class ManagedFields(ApiStruct):
    """One entry of ``metadata.managedFields``: who has written which fields, and when one of them was last changed."""

    time: str | None = None
    subresource: str | None = None
    fields_v1: Raw = Raw()


class WorkloadMeta(ObjectMeta):
    """Metadata of a workload. ``managed_fields``: a list of ManagedFields, decoded only where it is asked for."""

    managed_fields: Raw = Raw()


class RollingUpdate(ApiStruct):
    """How many pods a rollout may have at once."""

    max_surge: int | str | None = None


class DeploymentStrategy(ApiStruct):
    """How a Deployment rolls out."""

    type: str | None = None
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(ApiStruct):
    """Specifications of all kinds of workloads. ``selector``: labels alone for a ReplicationController."""

    replicas: Count | None = None
    parallelism: Count | None = None
    paused: bool | None = None
    suspend: bool | None = None
    min_ready_seconds: Count | None = None
    selector: Raw = Raw()
    strategy: DeploymentStrategy | None = None


class WorkloadStatus(ApiStruct):
    """Counts of all kinds of workloads; kinds differ in which they set."""

    observed_generation: Generation | None = None
    replicas: Count | None = None
    ready_replicas: Count | None = None
    updated_replicas: Count | None = None
    current_replicas: Count | None = None
    desired_number_scheduled: Count | None = None
    current_number_scheduled: Count | None = None
    updated_number_scheduled: Count | None = None
    number_ready: Count | None = None
    active: Count | None = None
    ready: Count | None = None
    conditions: list[Condition] | None = None


class WorkloadObject(ApiStruct):
    """A ReplicaSet, Deployment, StatefulSet, DaemonSet, ReplicationController or Job."""

    metadata: WorkloadMeta | None = None
    spec: WorkloadSpec | None = None
    status: WorkloadStatus | None = None


class DisruptionBudgetSpec(ApiStruct):
    """What the budget asks for. ``selector`` null selects nothing."""

    selector: LabelSelectorObject | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class DisruptionBudgetStatus(ApiStruct):
    """The disruption controller's count."""

    observed_generation: Generation | None = None
    disruptions_allowed: SmallInt | None = None
    current_healthy: SmallInt | None = None
    desired_healthy: SmallInt | None = None
    expected_pods: SmallInt | None = None
    disrupted_pods: dict[str, Raw] | None = None
    conditions: list[Condition] | None = None


class DisruptionBudgetObject(ApiStruct):
    """A PodDisruptionBudget."""

    metadata: ObjectMeta | None = None
    spec: DisruptionBudgetSpec | None = None
    status: DisruptionBudgetStatus | None = None


class NamespaceObject(ApiStruct):
    """A Namespace."""

    metadata: ObjectMeta | None = None


class ServiceSpec(ApiStruct):
    """Which pods a Service stands for."""

    selector: dict[str, str] | None = None


class ServiceObject(ApiStruct):
    """A Service."""

    metadata: ObjectMeta | None = None
    spec: ServiceSpec | None = None


class PolicyPeer(ApiStruct):
    """Whom a NetworkPolicy lets talk."""

    pod_selector: LabelSelectorObject | None = None


class IngressRule(ApiStruct):
    """Who may talk to the pods."""

    from_: list[PolicyPeer] | None = field(default=None, name="from")


class EgressRule(ApiStruct):
    """To whom the pods may talk."""

    to: list[PolicyPeer] | None = None


class NetworkPolicySpec(ApiStruct):
    """Which pods it holds for, and whom it lets talk to them."""

    pod_selector: LabelSelectorObject | None = None
    ingress: list[IngressRule] | None = None
    egress: list[EgressRule] | None = None


class NetworkPolicyObject(ApiStruct):
    """A NetworkPolicy."""

    metadata: ObjectMeta | None = None
    spec: NetworkPolicySpec | None = None


class PriorityClassObject(ApiStruct):
    """A PriorityClass."""

    value: SmallInt
    metadata: ObjectMeta | None = None
    global_default: bool | None = None
    preemption_policy: str | None = None


# A decoded PodDisruptionBudget as the model's, with the reason why its count cannot be trusted.


def disruption_budget(found: DisruptionBudgetObject) -> DisruptionBudget:
    """One budget. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    spec, status = found.spec or DisruptionBudgetSpec(), found.status or DisruptionBudgetStatus()
    selector = label_selector(spec.selector)
    problem = _problem(selector, status)
    return DisruptionBudget(
        namespace=namespace_of(meta),
        name=name_of(meta),
        uid=meta.uid or "",
        selector=selector,
        disruptions_allowed=0 if problem else status.disruptions_allowed or 0,
        current_healthy=status.current_healthy or 0,
        desired_healthy=status.desired_healthy or 0,
        expected_pods=status.expected_pods or 0,
        generation=meta.generation or 0,
        observed_generation=status.observed_generation or 0,
        disrupted_pods=tuple(sorted(status.disrupted_pods or ())),
        unhealthy_pod_eviction_policy=spec.unhealthy_pod_eviction_policy or "IfHealthyBudget",
        min_available=None if spec.min_available is None else str(spec.min_available),
        max_unavailable=None if spec.max_unavailable is None else str(spec.max_unavailable),
        problem=problem,
    )


def _problem(selector: LabelSelector | None, status: DisruptionBudgetStatus) -> str | None:
    unknown = unknown_rules(selector)
    if unknown:
        return f"its selector has {unknown[0]}"
    if status.disruptions_allowed is None and status.expected_pods is None and status.observed_generation is None:
        return "it has no status yet"
    if (status.disruptions_allowed or 0) < 0:
        return f"status.disruptionsAllowed is {status.disruptions_allowed}"
    return None


# When the number of replicas of a workload was written, by the API server's own record of who wrote what.

_REPLICAS: Final = re.compile(rb'"f:(replicas|parallelism)"')


def replica_writes(managed_fields: bytes) -> list[ManagedFields]:
    """Entries of ``metadata.managedFields`` of those who wrote the number of replicas that is wanted.

    None are where nobody says: an API server tells of it, a file seldom does. What cannot be read tells nothing either.
    """
    if managed_fields in NULL or not _REPLICAS.search(managed_fields):
        return []
    try:
        entries = json.decode(managed_fields, type=list[ManagedFields])
    except (DecodeError, ValidationError):
        return []
    return [entry for entry in entries if entry.subresource != "status" and _REPLICAS.search(bytes(entry.fields_v1))]


def scaled_at(managed_fields: bytes) -> float | None:
    """When whoever wrote the number of replicas last changed it, or anything else that is theirs; None: nobody says."""
    written = (read_time(entry.time) for entry in replica_writes(managed_fields))
    return max((time for time in written if time is not None), default=None)


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
        min_ready_seconds=spec.min_ready_seconds or 0,
        strategy=_strategy(spec.strategy),
        max_surge=_max_surge(spec.strategy),
    )


def _strategy(found: DeploymentStrategy | None) -> str:
    return "" if found is None else found.type or ""


def _max_surge(found: DeploymentStrategy | None) -> int | str | None:
    return None if found is None or found.rolling_update is None else found.rolling_update.max_surge


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


def network_policy(found: NetworkPolicyObject) -> NetworkPolicy:
    """A NetworkPolicy. Raises ObjectError."""
    meta, spec = found.metadata or ObjectMeta(), found.spec or NetworkPolicySpec()
    peers = [peer for rule in spec.ingress or () for peer in rule.from_ or ()]
    peers += [peer for rule in spec.egress or () for peer in rule.to or ()]
    selectors = (label_selector(item) for item in (spec.pod_selector, *(peer.pod_selector for peer in peers)))
    return NetworkPolicy(namespace_of(meta), name_of(meta), tuple(item for item in selectors if item is not None))


def priority_class(found: PriorityClassObject) -> PriorityClass:
    """A PriorityClass. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    return PriorityClass(
        name=name_of(meta),
        value=found.value,
        preemption_policy=found.preemption_policy or "PreemptLowerPriority",
        is_default=bool(found.global_default),
    )
