"""PodDisruptionBudgets as they stand: which pods each covers, and how many it lets go now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_WITH_VALUES = ("In", "NotIn")


class PodBudgetStatus(NamedTuple):
    """A budget with our own recount of its ready pods. ``problem``: why its status proves nothing."""

    budget: DisruptionBudget
    ready: int
    problem: str | None

    @property
    def allowed(self) -> int:
        """Ready pods that may go now: never more than the status says, nor than our recount leaves."""
        if self.problem is not None:
            return 0
        return max(0, min(self.budget.disruptions_allowed, self.ready - self.budget.desired_healthy))

    @property
    def lets_unready_go(self) -> bool:
        """True if a pod that is not ready may be evicted without spending the budget."""
        budget = self.budget
        if self.problem is not None:
            return False
        if budget.unhealthy_pod_eviction_policy == "AlwaysAllow":
            return True
        return budget.current_healthy >= budget.desired_healthy > 0


class PodDisruptionBudgets:
    """The budgets that cover a pod; those of a namespace are recounted when one of its pods is asked about."""

    def __init__(self, cluster: Cluster) -> None:
        """Nothing is counted yet."""
        self._cluster = cluster
        self._indices: dict[str, _SelectorIndex | None] = {}
        self._statuses: dict[str, PodBudgetStatus] = {}

    def _recount(self, namespace: str) -> _SelectorIndex | None:
        """Match and recount the budgets of one namespace; None: it has none."""
        cluster = self._cluster
        budgets = cluster.budgets_by_namespace.get(namespace)
        if budgets is None:
            return None
        index = _SelectorIndex(budgets)
        counted = [pod.labels for pod in cluster.pods_by_namespace.get(namespace, ()) if counts_as_ready(pod)]
        labels_of = {id(labels): labels for labels in counted}  # which replicas share
        ready: Counter[str] = Counter()
        for alike, number in Counter(map(id, counted)).items():
            for budget in index.matching(labels_of[alike]):
                ready[budget.key] += number
        for budget in budgets:
            for name in budget.disrupted_pods:  # granted, and the pod still looks as if nothing had happened
                granted = cluster.pod_by_key.get(f"{namespace}/{name}")
                if granted is not None and counts_as_ready(granted) and budget in index.matching(granted.labels):
                    ready[budget.key] -= 1
            self._statuses[budget.key] = PodBudgetStatus(budget, ready[budget.key], _problem(budget))
        return index

    def of(self, pod: Pod) -> tuple[PodBudgetStatus, ...]:
        """How the budgets that cover the pod stand."""
        return tuple(self._statuses[budget.key] for budget in self._covering(pod))

    def _covering(self, pod: Pod) -> tuple[DisruptionBudget, ...]:
        if pod.namespace not in self._indices:
            self._indices[pod.namespace] = self._recount(pod.namespace)
        index = self._indices[pod.namespace]
        return () if index is None else index.matching(pod.labels)


class _SelectorIndex:
    """The budgets of one namespace, found by the labels that their selectors ask for."""

    def __init__(self, budgets: Sequence[DisruptionBudget]) -> None:
        self._by_label: dict[tuple[str, str], list[DisruptionBudget]] = defaultdict(list)
        self._others: list[DisruptionBudget] = []
        for budget in budgets:
            rules = () if budget.selector is None else budget.selector.requirements
            asked = next((rule for rule in rules if rule.operator == "In"), None)
            if asked is None or _is_unreadable(budget):
                self._others.append(budget)
            else:
                for value in asked.values:
                    self._by_label[(asked.key, value)].append(budget)

    def matching(self, labels: Mapping[str, str]) -> tuple[DisruptionBudget, ...]:
        found = {
            budget.name: budget for budget in self._others if selects(budget.selector, labels) or _is_unreadable(budget)
        }
        for label in self._asked(labels):
            found.update({item.name: item for item in self._by_label[label] if selects(item.selector, labels)})
        return tuple(found[name] for name in sorted(found))

    def _asked(self, labels: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        """Those of a pod's labels that a selector asks for, found by the shorter list: a pod may bear very many."""
        if len(labels) <= len(self._by_label):
            return [label for label in labels.items() if label in self._by_label]
        return [label for label in self._by_label if labels.get(label[0]) == label[1]]


def _is_unreadable(budget: DisruptionBudget) -> bool:
    """A budget whose selector cannot be read, or cannot be valid, may cover any pod of its namespace."""
    if budget.selector is None:
        return budget.problem is not None
    return any(
        rule.operator not in _OPERATORS or (rule.operator in _WITH_VALUES) != bool(rule.values)
        for rule in budget.selector.requirements
    )


def _problem(budget: DisruptionBudget) -> str | None:
    if budget.problem is not None:
        return budget.problem
    if budget.observed_generation < budget.generation:
        return (
            f"its status is of generation {budget.observed_generation}, and generation {budget.generation} "
            "has not been observed yet"
        )
    return None
