"""What the rules of eligibility look at beside the pod itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rescheduler.disruption.budgets.pod_disruption_budgets import PodDisruptionBudgets
from rescheduler.disruption.budgets.policy_budgets import PolicyBudgets
from rescheduler.disruption.budgets.workload_budgets import BereftWorkloads, WorkloadBudgets
from rescheduler.disruption.earlier.back_off import EvictionBackOff
from rescheduler.disruption.gate.breaker import judge_breaker
from rescheduler.disruption.methods.move_methods import MoveMethods
from rescheduler.disruption.methods.surges import LabelUsers
from rescheduler.disruption.pod_kinds import PodKinds
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.model.columns.selectors import read_selector
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.surge_mark import surge_mark
from rescheduler.model.objects.workload import ResourceQuota
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.policy import Policy, budgets_in_force

# ResourceQuotas: whether a namespace has room for one more pod while the old one still counts.

_OTHERS: Final = frozenset({"Terminating", "BestEffort"})
"""Scopes of pods that we never move: with a time limit of their own, or without any request."""


class Quotas:
    """Quotas by namespace. A quota with other scopes is taken to count every pod."""

    def __init__(self, cluster: Cluster) -> None:
        self._quotas: defaultdict[str, list[ResourceQuota]] = defaultdict(list)
        for quota in cluster.quotas:
            if not _OTHERS.intersection(quota.scopes):
                self._quotas[quota.namespace].append(quota)

    def objection(self, pod: Pod) -> str | None:
        """The quota that would refuse a replacement made before the old pod is gone; None: there is room."""
        asked = _asked(pod)
        for quota in self._quotas.get(pod.namespace, ()):
            used = dict(quota.used)
            for name, hard in quota.hard:
                more = asked.get(name)
                if more and used.get(name, 0) + more > hard:
                    return f"ResourceQuota {quota.namespace}/{quota.name} leaves no room for another pod ({name})"
        return None


def _asked(pod: Pod) -> Mapping[str, int]:
    """What one pod adds to each counted name."""
    asked = {"pods": 1, "count/pods": 1}
    for name, amount in pod.spec.requests:
        asked[name] = asked[f"requests.{name}"] = amount
    return asked


# How far each workload is between two revisions, and what troubles the pods of each; counted once for a snapshot.

REVISION_LABEL: Final = "controller-revision-hash"


class Revisions:
    """Looked up by uid of the workload at the top of a pod's owners."""

    def __init__(self, cluster: Cluster) -> None:
        """The pods of each workload that is asked for are looked at once."""
        self._cluster = cluster
        self._pods: dict[str, list[Pod]] = {}

    def alive(self, workload: str) -> int:
        """Revisions that have pods which are not on their way out."""
        return len({revision_of(pod) for pod in self._of(workload) if not pod.is_terminating})

    def leaving(self, workload: str) -> int:
        """Pods on their way out."""
        return sum(pod.is_terminating for pod in self._of(workload))

    def troubled(self, workload: str, pod: Pod) -> Pod | None:
        """A pod of the same revision that cannot run, if there is one."""
        revision = revision_of(pod)
        found = [other for other in self._of(workload) if other.trouble and not other.is_terminating]
        return min((o for o in found if revision_of(o) == revision), key=lambda other: other.name, default=None)

    def _of(self, workload: str) -> list[Pod]:
        found = self._pods.get(workload)
        if found is None:
            found = self._pods[workload] = list(self._cluster.pods_of(workload))
        return found


def revision_of(pod: Pod) -> tuple[str, str]:
    """What tells revisions apart: the ReplicaSet of a Deployment's pod, the hash on a StatefulSet's."""
    owner = pod.controller
    return ("" if owner is None else owner.uid, pod.labels.get(REVISION_LABEL, ""))


EVERYTHING = Selection()
DEFAULT_SCHEDULERS = frozenset({"default-scheduler"})


@dataclass(frozen=True, eq=False)
class EligibilityContext:
    """One cluster under one policy.

    ``schedulers``: names of the schedulers whose decisions can be predicted. ``remembered_replicas``: see
    WorkloadBudgets. ``ledger``: earlier evictions. ``is_daemon``: nobody watches, so back-off, breaker and ramp-up
    bind. ``stop``: why nothing may be evicted. ``wanted``: what is remembered of replicas, by uid of workloads.
    ``sent``: evictions of the plan at hand, by uid of workloads. ``left``: pending pods that somebody else is to help,
    by uid, with the reason. ``granted``: pods of the plan at hand that the ramp-up lets go, by uid; None: it does not
    bind now. ``own_run``: whose surges under way are asked about once more, before their last step; "": nobody's.
    ``earlier``: what attempts before the one at hand did. ``only``: pods that are asked about, by key; None: all.
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
    granted: frozenset[str] | None = None
    own_run: str = ""
    earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS
    only: frozenset[str] | None = None

    def is_own_surge(self, pod: Pod) -> bool:
        """Whether the run at hand has taken the pod out of its ReplicaSet: what is said of one pod more is past."""
        mark = surge_mark(pod.annotations) if self.own_run else None
        return mark is not None and mark.plan == self.own_run

    @cached_property
    def kinds(self) -> PodKinds:
        """Pods that most rules cannot tell apart."""
        return PodKinds(self.cluster.pods)

    @cached_property
    def asked_kinds(self) -> PodKinds:
        """The same of those alone that are asked about, which of a large cluster is quick for a few."""
        return self.kinds if self.only is None else PodKinds(self.cluster.pods, self.asked)

    @cached_property
    def asked(self) -> Sequence[int]:
        """Places of the pods that are asked about, ascending."""
        if self.only is None:
            return range(len(self.cluster.pods))
        return sorted(self.cluster.indices_of(self.only).values())

    @cached_property
    def budgets(self) -> PodDisruptionBudgets:
        """PodDisruptionBudgets by pod."""
        return PodDisruptionBudgets(self.cluster)

    @cached_property
    def workloads(self) -> WorkloadBudgets:
        """Workloads by pod."""
        limit = self.policy.disruption.workloads.max_unavailable
        return WorkloadBudgets(self.cluster, limit, self.remembered_replicas)

    @cached_property
    def policy_budgets(self) -> PolicyBudgets:
        """The policy's budgets, and the rates that bind, with every earlier eviction."""
        budgets = budgets_in_force(self.policy, is_daemon=self.is_daemon)
        is_missed = self.methods.is_evicted if self.methods.has_rules else None
        kinds = self.kinds if any(budget.counts_pods for budget in budgets) else self.asked_kinds
        return PolicyBudgets(self.cluster, kinds, budgets, self.workloads, self.ledger, is_missed)

    @cached_property
    def methods(self) -> MoveMethods:
        """How each pod is moved."""
        return MoveMethods(self)

    @cached_property
    def users_of_template_hash(self) -> LabelUsers:
        """Who goes by the label by which pods are taken out of ReplicaSets."""
        return LabelUsers(self)

    @cached_property
    def debt_of(self) -> Mapping[str, LedgerEntry]:
        """Open debts by uid of their pod."""
        return {entry.pod.uid: entry for entry in self.ledger.debts}

    @cached_property
    def asked_of_owners(self) -> Mapping[str, LedgerEntry]:
        """By uid of pods whose owners were asked to move them, where what came of that is not known."""
        asked = (entry for entry in self.ledger.entries if entry.state is EntryState.SURGING)
        return {entry.pod.uid: entry for entry in asked if entry.method is MoveMethod.MIGRATE}

    @cached_property
    def revisions(self) -> Revisions:
        """How far each workload is between two revisions, and what troubles its pods."""
        return Revisions(self.cluster)

    @cached_property
    def quotas(self) -> Quotas:
        """Room that ResourceQuotas leave."""
        return Quotas(self.cluster)

    @cached_property
    def back_off(self) -> EvictionBackOff:
        """What earlier moves say against another."""
        return EvictionBackOff(self.ledger, self.policy.disruption.back_off, self.cluster.taken_at)

    @cached_property
    def breaker(self) -> Breaker:
        """The circuit breaker after everything that the ledger tells."""
        rules = self.policy.disruption.breaker
        return judge_breaker(self.ledger, rules, self.cluster.taken_at, BereftWorkloads(self.cluster))

    @cached_property
    def pod_selector(self) -> LabelSelector:
        """Which pods the policy may move."""
        return read_selector(self.policy.scope.label_selector)

    @cached_property
    def namespace_selector(self) -> LabelSelector:
        """In which namespaces pods must be that the policy may move."""
        return read_selector(self.policy.scope.namespace_selector)

    @cached_property
    def node_selector(self) -> LabelSelector:
        """On which nodes pods must sit that the policy may move."""
        return read_selector(self.policy.scope.node_selector)
