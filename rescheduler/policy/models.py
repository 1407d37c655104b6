"""The ReschedulerPolicy: what an operator may ask for, field by field."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from rescheduler.policy.values import DurationSeconds, Percentage


class PolicyModel(BaseModel):
    """Frozen, camelCase in files, unknown fields refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True, allow_inf_nan=False
    )


class Mode(StrEnum):
    """What ``run`` does with a plan."""

    DRY_RUN = "DryRun"
    APPROVE = "Approve"
    EXECUTE = "Execute"


class Permission(StrEnum):
    """Whether pods of a kind may be moved."""

    DENY = "Deny"
    ALLOW = "Allow"


class Guidance(StrEnum):
    """How moved pods are led to their destination."""

    PREDICT = "Predict"
    HOLD = "Hold"


class Metadata(PolicyModel):
    """The policy's own name."""

    name: str = "default"


class Objective(PolicyModel):
    """One objective; the policy's order is their order of importance."""

    name: Literal["MakeRoom"] = "MakeRoom"
    args: dict[str, Any] = Field(default_factory=dict)


class LabelSelectorRequirement(PolicyModel):
    """One rule of a label selector, as in Kubernetes."""

    key: str = Field(min_length=1)
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] = ()


class PolicySelector(PolicyModel):
    """A label selector as in Kubernetes; empty selects everything within the scope it narrows."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class Namespaces(PolicyModel):
    """Namespaces whose pods may be moved: all but ``exclude``, or only ``include``."""

    include: tuple[str, ...] | None = Field(default=None, min_length=1)
    exclude: tuple[str, ...] = ("kube-system",)


class Scope(PolicyModel):
    """What may be moved at all."""

    namespaces: Namespaces = Namespaces()
    label_selector: PolicySelector = PolicySelector()
    node_selector: PolicySelector = PolicySelector()
    priority_below: int | None = None
    minimum_age: DurationSeconds = 0.0


class Limits(PolicyModel):
    """Caps on one plan."""

    max_evictions: Annotated[int, Field(ge=0)] = 20
    max_evictions_per_node: Annotated[int, Field(ge=0)] | None = None
    max_evictions_per_namespace: Annotated[int, Field(ge=0)] | None = None
    deadline: DurationSeconds = 10.0


class Workloads(PolicyModel):
    """The floor under every workload, with or without a PodDisruptionBudget."""

    max_unavailable: int | Percentage = "10%"


class Disruption(PolicyModel):
    """How much may be disturbed in one wave, and which kinds of pods may be moved."""

    workloads: Workloads = Workloads()
    single_replicas: Permission = Permission.DENY
    ownerless: Permission = Permission.DENY
    local_storage: Permission = Permission.DENY
    persistent_volumes: Permission = Permission.DENY


class Hold(PolicyModel):
    """Placeholders: how long one may outlive us, and in which namespace they are made."""

    deadline: DurationSeconds = 60.0
    namespace: str = "rescheduler-holds"


class Policy(PolicyModel):
    """A ReschedulerPolicy."""

    api_version: Literal["rescheduler/v1alpha1"] = "rescheduler/v1alpha1"
    kind: Literal["ReschedulerPolicy"] = "ReschedulerPolicy"
    metadata: Metadata = Metadata()
    mode: Mode = Mode.DRY_RUN
    objectives: tuple[Objective, ...] = (Objective(),)
    scope: Scope = Scope()
    limits: Limits = Limits()
    disruption: Disruption = Disruption()
    guidance: Guidance = Guidance.HOLD
    hold: Hold = Hold()
