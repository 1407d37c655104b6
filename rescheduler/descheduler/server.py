"""What the API server says to an eviction, by the PodDisruptionBudgets as they stand when a cycle begins."""

from __future__ import annotations

from collections import Counter

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget


class EvictionServer:
    """Counts the disruptions that it has granted; the disruption controller does not count anew within a cycle."""

    def __init__(self, cluster: Cluster) -> None:
        """Start with what the budgets allow now."""
        self._cluster = cluster
        self._granted: Counter[str] = Counter()

    def refusal(self, pod: Pod, *, is_terminating: bool) -> str | None:
        """Why the server would not let a pod go; None: it lets it go, which counts."""
        if pod.phase in ("Pending", "Succeeded", "Failed") or is_terminating:
            return None
        budgets = [
            budget
            for budget in self._cluster.budgets_by_namespace.get(pod.namespace, ())
            if selects(budget.selector, pod.labels)
        ]
        if len(budgets) > 1:
            return f"two PodDisruptionBudgets select it: {budgets[0].name} and {budgets[1].name}"
        if not budgets or _goes_free(pod, budgets[0]):
            return None
        return self._asked(budgets[0])

    def _asked(self, budget: DisruptionBudget) -> str | None:
        if budget.observed_generation < budget.generation:
            return f"PodDisruptionBudget {budget.name} is newer than its own count"
        if budget.disruptions_allowed - self._granted[budget.key] <= 0:
            return f"PodDisruptionBudget {budget.name} allows no disruption"
        self._granted[budget.key] += 1
        return None


def _goes_free(pod: Pod, budget: DisruptionBudget) -> bool:
    """An unready pod does not count, where the budget says so or has enough healthy ones."""
    if pod.is_ready:
        return False
    is_healthy = budget.current_healthy >= budget.desired_healthy > 0
    return budget.unhealthy_pod_eviction_policy == "AlwaysAllow" or is_healthy
