"""PodDisruptionBudgets as they stand: which pods each covers, and how many it lets go now."""

from __future__ import annotations

from collections import defaultdict
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
    """The budgets that cover a pod; each is recounted when one of its pods is asked about."""

    def __init__(self, cluster: Cluster) -> None:
        """Nothing is counted yet."""
        self._cluster = cluster
        self._indices: dict[str, _SelectorIndex] = {}
        self._statuses: dict[str, PodBudgetStatus] = {}

    def of(self, pod: Pod) -> tuple[PodBudgetStatus, ...]:
        """How the budgets that cover the pod stand."""
        return tuple(self._status(budget) for budget in self._covering(pod))

    def _covering(self, pod: Pod) -> tuple[DisruptionBudget, ...]:
        if pod.namespace not in self._indices:
            budgets = self._cluster.budgets_by_namespace.get(pod.namespace, ())
            self._indices[pod.namespace] = _SelectorIndex(budgets)
        return self._indices[pod.namespace].matching(pod.labels)

    def _status(self, budget: DisruptionBudget) -> PodBudgetStatus:
        found = self._statuses.get(budget.key)
        if found is None:
            found = self._statuses[budget.key] = PodBudgetStatus(budget, self._ready(budget), _problem(budget))
        return found

    def _ready(self, budget: DisruptionBudget) -> int:
        """Pods that count for a budget, without those that it has let go and that look as if nothing had happened."""
        cluster, namespace = self._cluster, budget.namespace
        covered = (
            cluster.pods_by_namespace.get(namespace, ())
            if _is_unreadable(budget)
            else cluster.selected(namespace, budget.selector)
        )
        granted = frozenset(budget.disrupted_pods)
        return sum(counts_as_ready(pod) and pod.name not in granted for pod in covered)


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
