"""What the rules of eligibility look at beside the pod itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rescheduler.disruption.back_off import BackOff
from rescheduler.disruption.breaker import judge_breaker
from rescheduler.disruption.budgets.policy_budgets import PolicyBudgets
from rescheduler.disruption.pod_disruption_budgets import PodDisruptionBudgets
from rescheduler.disruption.pod_kinds import PodKinds
from rescheduler.disruption.quiet import Wanted
from rescheduler.disruption.quotas import Quotas
from rescheduler.disruption.revisions import Revisions
from rescheduler.disruption.workload_budgets import WorkloadBudgets, bereft_workloads
from rescheduler.model.cluster import Cluster
from rescheduler.model.constraints import LabelSelector
from rescheduler.model.disruption import Selection
from rescheduler.model.label_selectors import read_selector
from rescheduler.model.ledger import EMPTY_LEDGER, Breaker, Ledger, LedgerEntry
from rescheduler.policy.models import Policy

EVERYTHING = Selection()
DEFAULT_SCHEDULERS = frozenset({"default-scheduler"})


@dataclass(frozen=True, eq=False)
class Circumstances:
    """One cluster under one policy.

    ``schedulers``: names of the schedulers whose decisions can be predicted. ``remembered_replicas``: see
    WorkloadBudgets. ``ledger``: earlier evictions. ``is_daemon``: nobody watches, so back-off, breaker and ramp-up
    bind. ``stop``: why nothing may be evicted. ``wanted``: what is remembered of replicas, by uid of workloads.
    ``sent``: evictions of the plan at hand, by uid of workloads. ``left``: pending pods that somebody else is to help,
    by uid, with the reason.
    """

    cluster: Cluster
    policy: Policy
    selection: Selection = EVERYTHING
    schedulers: frozenset[str] = DEFAULT_SCHEDULERS
    remembered_replicas: Mapping[str, int] = field(default_factory=dict)
    ledger: Ledger = EMPTY_LEDGER
    is_daemon: bool = False
    stop: str | None = None
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    sent: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> PodKinds:
        """Pods that most rules cannot tell apart."""
        return PodKinds(self.cluster.pods)

    @cached_property
    def budgets(self) -> PodDisruptionBudgets:
        """PodDisruptionBudgets by pod."""
        return PodDisruptionBudgets(self.cluster, self.kinds)

    @cached_property
    def workloads(self) -> WorkloadBudgets:
        """Workloads by pod."""
        limit = self.policy.disruption.workloads.max_unavailable
        return WorkloadBudgets(self.cluster, self.kinds, limit, self.remembered_replicas)

    @cached_property
    def policy_budgets(self) -> PolicyBudgets:
        """The policy's own budgets, with every earlier eviction."""
        budgets = self.policy.disruption.budgets
        return PolicyBudgets(self.cluster, self.kinds, budgets, self.workloads, self.ledger)

    @cached_property
    def debt_of(self) -> Mapping[str, LedgerEntry]:
        """Open debts by uid of their pod."""
        return {entry.pod.uid: entry for entry in self.ledger.debts}

    @cached_property
    def revisions(self) -> Revisions:
        """How far each workload is between two revisions, and what troubles its pods."""
        return Revisions(self.cluster, self.kinds)

    @cached_property
    def quotas(self) -> Quotas:
        """Room that ResourceQuotas leave."""
        return Quotas(self.cluster)

    @cached_property
    def back_off(self) -> BackOff:
        """What earlier moves say against another."""
        return BackOff(self.ledger, self.policy.disruption.back_off, self.cluster.taken_at)

    @cached_property
    def breaker(self) -> Breaker:
        """The circuit breaker after everything that the ledger tells."""
        rules = self.policy.disruption.breaker
        return judge_breaker(self.ledger, rules, self.cluster.taken_at, bereft_workloads(self.cluster))

    @cached_property
    def pod_selector(self) -> LabelSelector:
        """Which pods the policy may move."""
        return read_selector(self.policy.scope.label_selector)

    @cached_property
    def node_selector(self) -> LabelSelector:
        """On which nodes pods must sit that the policy may move."""
        return read_selector(self.policy.scope.node_selector)
