"""The ReschedulerPolicy: what an operator may ask for, field by field."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.budgets import Budget, Budgets, Rates
from rescheduler.policy.fields.daemon.api import ApiPolicy, ApprovalPolicy, AuditPolicy, TelemetryPolicy
from rescheduler.policy.fields.daemon.archive import ArchivePolicy
from rescheduler.policy.fields.daemon.autoscaler import AutoscalerPolicy, CheckedAutoscalerPolicy, FirstTry
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy
from rescheduler.policy.fields.daemon.ledger import LedgerPolicy
from rescheduler.policy.fields.daemon.safety import (
    BackOffPolicy,
    BreakerPolicy,
    Health,
    RampUp,
    RampUpPolicy,
    Stop,
    remembered_seconds,
)
from rescheduler.policy.fields.daemon.triggers import DEFAULT_TRIGGERS, TriggerEntry
from rescheduler.policy.fields.descheduler import BesideDescheduler
from rescheduler.policy.fields.kinds_of_pods import OwnerKind, PersistentVolumes
from rescheduler.policy.fields.move_by import MigrationPolicy, MoveRule, SurgePolicy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.prices import PricesPolicy
from rescheduler.policy.fields.schedulers import SchedulerSource
from rescheduler.policy.fields.selectors import LabelKey, LabelSelectorRequirement, NodeSelector, PolicySelector
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.policy.fields.values import (
    LARGEST_COUNT,
    CountOrShare,
    DurationSeconds,
    Margin,
    NamespaceName,
    PositiveDurationSeconds,
)
from rescheduler.policy.plugins import known_in

__all__ = [
    "Disruption", "Guidance", "Hold", "LabelSelectorRequirement", "Limits", "Metadata", "Mode", "Namespaces",
    "NodeSelector", "Objective", "Permission", "Policy", "PolicySelector", "Scope", "Workloads",
]  # fmt: skip

API_VERSION: Final = "rescheduler/v1alpha1"
KIND: Final = "ReschedulerPolicy"


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
    GUIDE = "Guide"
    TAINT = "Taint"


SYSTEM_NAMESPACES: Final = frozenset({"kube-system", "kube-public", "kube-node-lease"})
"""Namespaces that every cluster has for itself."""


class Metadata(PolicyModel):
    """The policy's own name."""

    name: Annotated[str, Field(min_length=1, max_length=253)] = "default"
    """Shown in reports."""
    acknowledged: Annotated[str, Field(pattern="^[0-9a-f]{12}$")] | None = None
    """What ``run`` has called this very policy, held back since it reaches further than the one before; left out: it
    may not. docs/policy-reload.md."""


class Objective(PolicyModel):
    """One objective; the policy's order is their order of importance."""

    name: Annotated[str, known_in("objectives")] = "MakeRoom"
    """Which one; docs/objectives.md says what each does."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Its arguments."""
    weight: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """Neighbouring objectives with a weight are one: the weighted sum of what each gains."""
    move_cost: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    """What one eviction of ordinary price costs, in units of what the objective gains."""


class Namespaces(PolicyModel):
    """Namespaces whose pods may be moved: all but ``exclude``, or only ``include``."""

    include: Annotated[tuple[NamespaceName, ...], Field(min_length=1)] | None = None
    """Only these; left out: all."""
    exclude: tuple[NamespaceName, ...] = ()
    """Never these, besides those of ``systemNamespaces``."""

    @model_validator(mode="after")
    def _no_name_twice(self) -> Namespaces:
        for name in self.include or ():
            if name in self.exclude:
                raise PydanticCustomError("included_and_excluded", "{name}", {"name": name})
        return self


class Scope(PolicyModel):
    """What may be moved at all."""

    namespaces: Namespaces = Namespaces()
    """By namespace."""
    system_namespaces: Permission = Permission.DENY
    """Pods of kube-system, kube-public, kube-node-lease and the namespace in which ``run`` is (where that is not known,
    rescheduler-system), whatever ``namespaces`` says. The daemon's own pods are never moved."""
    namespace_selector: PolicySelector = PolicySelector()
    """Only pods of namespaces with these labels."""
    label_selector: PolicySelector = PolicySelector()
    """Only pods with these labels."""
    node_selector: NodeSelector = NodeSelector()
    """Only pods on nodes with these labels."""
    priority_below: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = None
    """Only pods of a lower priority than this; left out: no further limit."""
    minimum_age: DurationSeconds = 300.0
    """Only pods that have existed for this long. Left out, it binds ``run`` alone; written, every command."""

    @model_validator(mode="after")
    def _leaves_something(self) -> Scope:
        named = self.namespaces.include
        if named is not None and self.system_namespaces is Permission.DENY and SYSTEM_NAMESPACES.issuperset(named):
            text = (
                "namespaces.include names only {names}, which systemNamespaces: Deny leaves alone, so nothing would "
                "ever be moved; name others, or write systemNamespaces: Allow"
            )
            raise PydanticCustomError("only_system_namespaces", text, {"names": ", ".join(named)})
        return self


class Limits(PolicyModel):
    """Caps on one plan."""

    max_evictions: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] = 20
    """Evictions in one plan."""
    max_evictions_per_node: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] | None = None
    """Evictions in one plan from one node; left out: no cap."""
    max_evictions_per_namespace: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] | None = None
    """Evictions in one plan from one namespace; left out: no cap."""
    deadline: PositiveDurationSeconds = 10.0
    """Planning time; when it is over, the best plan so far is given with its bound."""
    in_flight: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] = 10
    """Moves under way at once while a plan is carried out; one counts until its replacement is Ready."""
    margin: Margin = 0.0
    """By how much a gain must exceed the cost of its evictions (``moveCost``), as a share of that cost."""


class Workloads(PolicyModel):
    """The floor under every workload, with or without a PodDisruptionBudget."""

    max_unavailable: CountOrShare = "10%"
    """Pods of one workload that may be unready in one wave, those already unready included: a number, or a share of
    the desired replicas (rounded down, at least 1)."""


class Disruption(PolicyModel):
    """How much may be disturbed in one wave, and which kinds of pods may be moved."""

    workloads: Workloads = Workloads()
    """For every workload."""
    single_replicas: Permission = Permission.DENY
    """Pods whose workload wants one replica only."""
    ownerless: Permission = Permission.DENY
    """Pods that nothing would recreate."""
    local_storage: Permission = Permission.DENY
    """Pods with emptyDir or hostPath volumes, whose contents would be lost."""
    persistent_volumes: PersistentVolumes = PersistentVolumes()
    """Pods with persistent volume claims: Deny, Allow, or those alone whose volumes are all of the storage classes
    named."""
    without_budget: Permission = Permission.ALLOW
    """Pods that no PodDisruptionBudget covers."""
    owner_kinds: Annotated[tuple[OwnerKind, ...], Field(max_length=64)] = ()
    """Further controllers that replace an evicted pod, by API group and kind: ``{group: apps.kruise.io, kind:
    CloneSet}``. Pods of ReplicaSets, StatefulSets and ReplicationControllers may be moved in any case; of all others
    it is not known whether anything replaces them. Pods with a restartPolicy other than Always stay all the same."""
    not_ready: Permission = Permission.DENY
    """Pods that are not Ready, and pods on nodes that are not."""
    budgets: Budgets = ()
    """How many pods of a set at once, and in a window of time, and at what times; docs/disruption-budgets.md."""
    unsettled: Permission = Permission.ALLOW
    """Pods of workloads that are rolling out, being scaled or failing, or that may not come back: a quota is full, a
    replica cannot start. Deny leaves them alone, and takes the replicas of a StatefulSet one at a time; ``run`` does so
    in any case, and with Deny also takes a workload that it has not seen before for one that was just scaled."""
    quiet: DurationSeconds = 300.0
    """With ``unsettled: Deny``, and under ``run``: how long a workload is left alone after its number of replicas was
    changed."""
    breaker: BreakerPolicy = BreakerPolicy()
    """When ``run`` stops because its evictions come to nothing."""
    back_off: BackOffPolicy = BackOffPolicy()
    """How long ``run`` leaves alone what it moved."""
    rates: Rates = Rates()
    """Evictions in sliding windows: what is left out binds ``run`` alone, what is written binds every command."""
    ramp_up: RampUp = RampUpPolicy()
    """A careful start of ``run`` in mode Execute, until it reaches ``rates.perHour``; ``unlimited``: none."""
    move_together: LabelKey | None = None
    """Running pods of one namespace with the same value of this label move all or none in one plan; those of one
    PodGroup (scheduling.x-k8s.io/pod-group) always do."""
    move_by: Annotated[tuple[MoveRule, ...], Field(max_length=64)] = ()
    """How pods are moved; the first rule that names a pod holds, and a pod that none names is evicted.
    docs/moving-without-downtime.md."""
    surge: SurgePolicy = SurgePolicy()
    """For pods that move by surge."""
    migration: MigrationPolicy = MigrationPolicy()
    """For pods that move by migration."""


class Hold(PolicyModel):
    """Placeholders: how long one may outlive the process, and in which namespace they are made."""

    deadline: PositiveDurationSeconds = 60.0
    """A placeholder outlives a killed process by at most this and five seconds."""
    namespace: NamespaceName = "rescheduler-holds"
    """Namespace in which placeholders are made."""


class Policy(PolicyModel):
    """A ReschedulerPolicy."""

    api_version: Literal["rescheduler/v1alpha1"] = API_VERSION
    """Version of this form."""
    kind: Literal["ReschedulerPolicy"] = KIND
    """Kind of this file."""
    metadata: Metadata = Metadata()
    """The policy's own name."""
    mode: Mode = Mode.DRY_RUN
    """What a daemon does with its plans; a confirmed ``apply`` executes in any mode."""
    schedulers: Annotated[tuple[SchedulerSource, ...], Field(max_length=64)] = ()
    """How each scheduler of the cluster is configured; none: kube-scheduler's defaults."""
    usage: UsagePolicy = UsagePolicy()
    """Measured load: providers, windows, and when it is believed."""
    triggers: Annotated[tuple[TriggerEntry, ...], Field(min_length=1, max_length=32)] = DEFAULT_TRIGGERS
    """What makes a daemon run a round, by default every 5m and on demand; docs/triggers.md. They only ask: what may be
    moved is decided anew each time."""
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1, max_length=7)] = (Objective(),)
    """What to reach, the most important first; each keeps what those before it have reached."""
    scope: Scope = Scope()
    """What may be moved at all."""
    limits: Limits = Limits()
    """Caps on one plan."""
    disruption: Disruption = Disruption()
    """How much may be disturbed in one wave, and which kinds of pods may be moved."""
    guidance: Guidance = Guidance.HOLD
    """Hold: placeholders keep the hole and close the origin. Guide: besides, replacements are created at a gate and led
    to their nodes, so that pods on full nodes can change places (Kubernetes 1.36, deploy/guide.yaml). Taint: a taint
    that expires closes the nodes that pods leave, and placeholders keep the holes. Predict: nothing is written
    but evictions."""
    hold: Hold = Hold()
    """Placeholders of ``guidance: Hold``; its ``deadline`` holds for the taints of ``guidance: Taint`` too."""
    ledger: LedgerPolicy = LedgerPolicy()
    """The record of every eviction."""
    health: Health = Health()
    """When ``run`` keeps its hands off."""
    stop: Stop = Stop()
    """The kill switch."""
    leader_election: LeaderElectionPolicy = LeaderElectionPolicy()
    """How several instances of ``run`` agree on the one that may act."""
    api: ApiPolicy | None = None
    """The REST API of ``run``; left out: none."""
    approval: ApprovalPolicy = ApprovalPolicy()
    """How long plans wait for a person."""
    telemetry: TelemetryPolicy = TelemetryPolicy()
    """Where ``run`` answers for its health and its metrics."""
    archive: ArchivePolicy | None = None
    """Snapshots for back-tests, kept by ``run``; left out: none."""
    audit: AuditPolicy = AuditPolicy()
    """What ``run`` writes down beside the ledger."""
    autoscaler: CheckedAutoscalerPolicy = AutoscalerPolicy()
    """How ``run`` lives beside an autoscaler; docs/autoscaling.md."""
    descheduler: BesideDescheduler = BesideDescheduler()
    """What holds for a DeschedulerPolicy that stands beside this policy."""
    prices: PricesPolicy = PricesPolicy()
    """What nodes cost; docs/prices.md."""

    def has_objective(self, name: str) -> bool:
        """Whether it is planned for an objective of this name."""
        return any(objective.name == name for objective in self.objectives)

    @model_validator(mode="after")
    def _may_write_what_it_asks_for(self) -> Policy:
        if self.guidance is Guidance.PREDICT:
            for number, rule in enumerate(self.disruption.move_by):
                if rule.method is MoveMethod.SURGE:
                    text = (
                        "guidance: Predict writes nothing but evictions, and disruption.moveBy[{number}].method: Surge "
                        "writes a label of the pod; write another guidance, or another method"
                    )
                    raise PydanticCustomError("surge_without_writing", text, {"number": number})
        return self


def with_unrest(policy: Policy) -> Policy:
    """The policy with ``disruption.unsettled: Allow``."""
    disruption = policy.disruption.model_copy(update={"unsettled": Permission.ALLOW})
    return policy.model_copy(update={"disruption": disruption})


def with_unready(policy: Policy) -> Policy:
    """The policy with ``disruption.notReady: Allow``."""
    disruption = policy.disruption.model_copy(update={"not_ready": Permission.ALLOW})
    return policy.model_copy(update={"disruption": disruption})


# Whether a daemon under a policy takes part in leader election.


def elects_leader(policy: Policy) -> bool:
    """As the policy says; where it does not, a lease is written only where other things may be written too."""
    if policy.mode is Mode.DRY_RUN:
        return False  # writes nothing, so that any number of them may run
    if policy.leader_election.enabled is not None:
        return policy.leader_election.enabled
    return policy.guidance is not Guidance.PREDICT


def may_surge(policy: Policy) -> bool:
    """Whether a rule lets pods move by surge."""
    return any(rule.method is MoveMethod.SURGE for rule in policy.disruption.move_by)


def may_migrate(policy: Policy) -> bool:
    """Whether a rule asks owners to move their pods."""
    return any(rule.method is MoveMethod.MIGRATE for rule in policy.disruption.move_by)


def tries_first(policy: Policy) -> bool:
    """Whether a daemon makes room for a pod before an autoscaler buys a node for it: nobody could be asked in time."""
    return policy.mode is Mode.EXECUTE and policy.autoscaler.first_try is FirstTry.ON


# What binds where a policy says nothing: ``run`` is bound by the defaults, a person's command by what is written.


def budgets_in_force(policy: Policy, *, is_daemon: bool) -> tuple[Budget, ...]:
    """The policy's budgets, and its rates as budgets."""
    return (*policy.disruption.budgets, *policy.disruption.rates.budgets(with_defaults=is_daemon))


def minimum_age_in_force(policy: Policy, *, is_daemon: bool) -> float:
    """For how long a pod must have existed, in seconds."""
    is_bound = is_daemon or "minimum_age" in policy.scope.model_fields_set
    return policy.scope.minimum_age if is_bound else 0.0


# How long a policy needs to know of earlier evictions, and whether it rests on knowing them.


def counted_seconds(policy: Policy) -> float:
    """The longest window in which an eviction counts: of a rate, a back-off, the breaker or the ramp-up."""
    disruption = policy.disruption
    budgets = budgets_in_force(policy, is_daemon=True)  # what ``apply`` writes down counts under ``run`` too
    rates = [budget.rate.window for budget in budgets if budget.rate is not None]
    return max([remembered_seconds(disruption.back_off, disruption.breaker, disruption.ramp_up), *rates])


def counted_labels(policy: Policy) -> frozenset[str]:
    """Keys of the labels by which budgets tell pods apart."""
    selectors = [budget.label_selector for budget in policy.disruption.budgets if budget.label_selector is not None]
    return frozenset(key for selector in selectors for key in selector.keys)


def keep_seconds(policy: Policy) -> float:
    """How long a ledger keeps an eviction that is over."""
    return max(policy.ledger.keep, counted_seconds(policy))


def needs_ledger(policy: Policy, *, is_daemon: bool) -> bool:
    """Whether budgets can only be kept by all who evict together: those that count evictions, or open ones."""
    budgets = budgets_in_force(policy, is_daemon=is_daemon)
    return any(budget.rate is not None or budget.max_moving is not None for budget in budgets)
