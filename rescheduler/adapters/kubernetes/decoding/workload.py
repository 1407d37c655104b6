"""Fields of the objects that recreate pods, of PodDisruptionBudgets, and of what else stands around pods."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw

from rescheduler.adapters.kubernetes.decoding.metadata import Condition, Decoded, LabelSelectorObject, ObjectMeta
from rescheduler.adapters.kubernetes.decoding.pod import Count, SmallInt

Generation = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class ManagedFields(Decoded):
    """One entry of ``metadata.managedFields``: who has written which fields, and when one of them was last changed."""

    time: str | None = None
    subresource: str | None = None
    fields_v1: Raw = Raw()


class WorkloadMeta(ObjectMeta):
    """Metadata of a workload. ``managed_fields``: a list of ManagedFields, decoded only where it is asked for."""

    managed_fields: Raw = Raw()


class WorkloadSpec(Decoded):
    """Specifications of all kinds of workloads. ``selector``: labels alone for a ReplicationController."""

    replicas: Count | None = None
    parallelism: Count | None = None
    paused: bool | None = None
    suspend: bool | None = None
    selector: Raw = Raw()


class WorkloadStatus(Decoded):
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


class WorkloadObject(Decoded):
    """A ReplicaSet, Deployment, StatefulSet, DaemonSet, ReplicationController or Job."""

    metadata: WorkloadMeta | None = None
    spec: WorkloadSpec | None = None
    status: WorkloadStatus | None = None


class DisruptionBudgetSpec(Decoded):
    """What the budget asks for. ``selector`` null selects nothing."""

    selector: LabelSelectorObject | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class DisruptionBudgetStatus(Decoded):
    """The disruption controller's count."""

    observed_generation: Generation | None = None
    disruptions_allowed: SmallInt | None = None
    current_healthy: SmallInt | None = None
    desired_healthy: SmallInt | None = None
    expected_pods: SmallInt | None = None
    disrupted_pods: dict[str, Raw] | None = None
    conditions: list[Condition] | None = None


class DisruptionBudgetObject(Decoded):
    """A PodDisruptionBudget."""

    metadata: ObjectMeta | None = None
    spec: DisruptionBudgetSpec | None = None
    status: DisruptionBudgetStatus | None = None


class NamespaceObject(Decoded):
    """A Namespace."""

    metadata: ObjectMeta | None = None


class ServiceSpec(Decoded):
    """Which pods a Service stands for."""

    selector: dict[str, str] | None = None


class ServiceObject(Decoded):
    """A Service."""

    metadata: ObjectMeta | None = None
    spec: ServiceSpec | None = None


class PriorityClassObject(Decoded):
    """A PriorityClass."""

    value: SmallInt
    metadata: ObjectMeta | None = None
    global_default: bool | None = None
    preemption_policy: str | None = None
