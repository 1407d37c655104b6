"""Fields of a Pod."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Raw, field

from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    ApiStruct,
    Condition,
    LabelSelectorObject,
    NodeSelectorObject,
    NodeSelectorTermObject,
    ObjectMeta,
)

Port = Annotated[int, Meta(ge=0, le=65535)]
Weight = Annotated[int, Meta(ge=0, le=100)]
SmallInt = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seconds = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Container(ApiStruct):
    """A container, init containers too. ``restart_policy`` Always makes an init container a sidecar."""

    name: str | None = None
    image: str | None = None
    restart_policy: str | None = None
    resources: Raw = Raw()
    ports: Raw = Raw()


class ContainerPort(ApiStruct):
    """A port of a container."""

    container_port: Port | None = None
    host_port: Port | None = None
    protocol: str | None = None
    host_ip: str | None = field(default=None, name="hostIP")


class ResourceRequirements(ApiStruct):
    """Requests and limits as written."""

    requests: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None


class NodeAffinityObject(ApiStruct):
    """Rules and wishes about nodes."""

    required: NodeSelectorObject | None = field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: list[PreferredSchedulingTerm] | None = field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class PreferredSchedulingTerm(ApiStruct):
    """A wish about nodes."""

    weight: Weight
    preference: NodeSelectorTermObject


class PodAffinityTermObject(ApiStruct):
    """Pods to be near to or far from."""

    topology_key: str
    label_selector: LabelSelectorObject | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelectorObject | None = None


class WeightedPodAffinityTerm(ApiStruct):
    """A wish about other pods."""

    weight: Weight
    pod_affinity_term: PodAffinityTermObject


class PodAffinityObject(ApiStruct):
    """Rules and wishes about other pods; anti-affinity has the same form."""

    required: list[PodAffinityTermObject] | None = field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: list[WeightedPodAffinityTerm] | None = field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(ApiStruct):
    """Node affinity stands apart, since pods of a DaemonSet differ in nothing else."""

    node_affinity: Raw = Raw()
    pod_affinity: Raw = Raw()
    pod_anti_affinity: Raw = Raw()


class TolerationObject(ApiStruct):
    """One toleration."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class TopologySpreadConstraintObject(ApiStruct):
    """One spread constraint."""

    topology_key: str
    max_skew: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    when_unsatisfiable: str | None = None
    label_selector: LabelSelectorObject | None = None
    min_domains: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    match_label_keys: list[str] | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


class SchedulingGate(ApiStruct):
    """One gate."""

    name: str


class PodSpecObject(ApiStruct):
    """What the scheduler and the disruption rules look at."""

    node_name: str | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    node_selector: Raw = Raw()
    affinity: Affinity | None = None
    tolerations: Raw = Raw()
    topology_spread_constraints: Raw = Raw()
    overhead: Raw = Raw()
    resources: Raw = Raw()
    resource_claims: Raw = Raw()
    scheduling_group: Raw = Raw()
    workload_ref: Raw = Raw()
    scheduling_gates: list[SchedulingGate] | None = None
    host_network: bool | None = None
    priority: SmallInt | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    scheduler_name: str | None = None
    restart_policy: str | None = None
    termination_grace_period_seconds: Seconds | None = None
    volumes: Raw = Raw()


class ContainerWaiting(ApiStruct):
    """Why a container does not run yet."""

    reason: str | None = None


class ContainerEnd(ApiStruct):
    """How a container ended."""

    reason: str | None = None
    exit_code: int | None = None


class ContainerState(ApiStruct):
    """What a container does; that it runs is not looked at."""

    waiting: ContainerWaiting | None = None
    terminated: ContainerEnd | None = None


class ContainerStatus(ApiStruct):
    """What a container does and got; ``resources`` and ``allocated_resources`` matter while it is resized in place."""

    name: str | None = None
    restart_count: Count | None = None
    state: Raw = Raw()
    resources: Raw = Raw()
    allocated_resources: Raw = Raw()


class PodStatus(ApiStruct):
    """The pod as its node reports it."""

    phase: str | None = None
    reason: str | None = None
    conditions: list[Condition] | None = None
    start_time: str | None = None
    nominated_node_name: str | None = None
    resize: str | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    ephemeral_container_statuses: Raw = Raw()


class PodObject(ApiStruct):
    """A Pod."""

    metadata: ObjectMeta | None = None
    spec: PodSpecObject | None = None
    status: PodStatus | None = None
