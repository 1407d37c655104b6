"""What the rules of eligibility look at beside the pod itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rescheduler.disruption.pod_disruption_budgets import PodDisruptionBudgets
from rescheduler.disruption.pod_kinds import PodKinds
from rescheduler.disruption.workload_budgets import WorkloadBudgets
from rescheduler.model.cluster import Cluster
from rescheduler.model.constraints import LabelSelector
from rescheduler.model.disruption import Selection
from rescheduler.model.label_selectors import read_selector
from rescheduler.policy.models import Policy

EVERYTHING = Selection()
DEFAULT_SCHEDULERS = frozenset({"default-scheduler"})


@dataclass(frozen=True, eq=False)
class Circumstances:
    """One cluster under one policy.

    ``schedulers``: names of the schedulers whose decisions can be predicted. ``remembered_replicas``: see
    WorkloadBudgets.
    """

    cluster: Cluster
    policy: Policy
    selection: Selection = EVERYTHING
    schedulers: frozenset[str] = DEFAULT_SCHEDULERS
    remembered_replicas: Mapping[str, int] = field(default_factory=dict)

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
    def pod_selector(self) -> LabelSelector:
        """Which pods the policy may move."""
        return read_selector(self.policy.scope.label_selector)

    @cached_property
    def node_selector(self) -> LabelSelector:
        """On which nodes pods must sit that the policy may move."""
        return read_selector(self.policy.scope.node_selector)
