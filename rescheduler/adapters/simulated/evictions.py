"""The eviction handler of the API server: what it checks, in which order, and what each answer costs.

The order matters: the budget is spent before the uid is looked at, so that an eviction aimed at a pod that was
replaced meanwhile costs a disruption although nothing is evicted.
"""

from __future__ import annotations

from rescheduler.adapters.simulated.components.budgets import DisruptionController
from rescheduler.adapters.simulated.components.kubelet import Kubelet
from rescheduler.adapters.simulated.components.machines import Machines
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from rescheduler.model.plan.plan import PodReference

_RETRY_AFTER_SECONDS = 10.0
_LARGEST_DISRUPTED_PODS = 2000
_ACCEPTED = EvictionAnswer("Accepted")


class EvictionHandler:
    """POST pods/NAME/eviction."""

    def __init__(self, store: ObjectStore, budgets: DisruptionController, kubelet: Kubelet, machines: Machines) -> None:
        self._store = store
        self._budgets = budgets
        self._kubelet = kubelet
        self._machines = machines

    def evict(self, reference: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Answer one request; empty preconditions are none. Accepted means that the deletion has begun."""
        pod = self._store.pods.get(reference.key)
        if pod is None:
            return EvictionAnswer("Gone", f'pods "{reference.name}" not found')
        moved = self._machines.answer(pod, dry_run=dry_run)  # a webhook is asked before any budget
        if moved is not None:
            return moved
        if not _ignores_budgets(pod):
            refusal = self._spend(pod, dry_run=dry_run)
            if refusal is not None:
                return refusal
        conflict = _conflict(pod, reference.uid, resource_version)
        if conflict is not None:
            return conflict
        if not dry_run:
            self._store.write("create", "pods/eviction", pod.namespace, pod.name, pod.uid)
            self._store.event("Evicted", pod, "EvictionByEvictionAPI")
            self._kubelet.delete(pod)
        return _ACCEPTED

    def _spend(self, pod: Pod, *, dry_run: bool) -> EvictionAnswer | None:
        """Check the pod's budget and book the disruption; None: it may go."""
        budgets = self._budgets.matching(pod)
        if len(budgets) > 1:
            return EvictionAnswer(
                "TwoBudgets",
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            )
        if not budgets or _goes_unready(pod, budgets[0]):
            return None
        refusal = _refusal(budgets[0])
        if refusal is None and not dry_run:
            self._budgets.grant(budgets[0], pod)
        return refusal


def _ignores_budgets(pod: Pod) -> bool:
    """A pod that has ended, has not begun, or is on its way out: its budget is not looked at."""
    return pod.is_finished or pod.phase == "Pending" or pod.is_terminating


def _goes_unready(pod: Pod, budget: DisruptionBudget) -> bool:
    """An unready pod goes without a charge where its budget is met without it, or does not guard unready pods."""
    if pod.is_ready:
        return False
    is_met = budget.current_healthy >= budget.desired_healthy > 0
    return is_met or budget.unhealthy_pod_eviction_policy == "AlwaysAllow"


def _refusal(budget: DisruptionBudget) -> EvictionAnswer | None:
    if budget.observed_generation < budget.generation:
        message = f"The disruption budget {budget.name} is still being processed by the server."
        return EvictionAnswer("BudgetNotObserved", message, _RETRY_AFTER_SECONDS)
    if budget.disruptions_allowed < 0:
        return EvictionAnswer("Forbidden", "pdb disruptions allowed is negative")
    if len(budget.disrupted_pods) > _LARGEST_DISRUPTED_PODS:
        return EvictionAnswer("Forbidden", "DisruptedPods map too big - too many evictions not confirmed")
    if budget.disruptions_allowed == 0:
        return EvictionAnswer(
            "BudgetExhausted",
            "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget "
            f"{budget.name} needs {budget.desired_healthy} healthy pods and has {budget.current_healthy} currently",
        )
    return None


def _conflict(pod: Pod, uid: str, resource_version: str) -> EvictionAnswer | None:
    if uid and uid != pod.uid:
        return EvictionAnswer(
            "Conflict", f"Precondition failed: UID in precondition: {uid}, UID in object meta: {pod.uid}"
        )
    if resource_version and resource_version != pod.resource_version:
        return EvictionAnswer(
            "Conflict",
            f"Precondition failed: ResourceVersion in precondition: {resource_version}, "
            f"ResourceVersion in object meta: {pod.resource_version}",
        )
    return None
