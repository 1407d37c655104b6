"""Pods that must stay because too few others of their kind would be left."""

from __future__ import annotations

from rescheduler.disruption.budgets.pod_disruption_budgets import PodBudgetStatus
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Permission


def open_debt(pod: Pod, context: EligibilityContext) -> str | None:
    """A pod that was sent for eviction counts as gone, even where it does not look so yet."""
    entry = context.debt_of.get(pod.uid)
    if entry is None:
        return None
    return f"was sent for eviction already by plan {entry.plan} (eviction {entry.number} of the ledger is still open)"


def budget(pod: Pod, context: EligibilityContext) -> str | None:
    """The policy's own budgets: so many at once, so many in a window of time, and at some times only."""
    return context.policy_budgets.objection(pod)


def several_pod_disruption_budgets(pod: Pod, context: EligibilityContext) -> str | None:
    """The Eviction API fails for a pod that two budgets cover."""
    statuses = context.budgets.of(pod)
    if len(statuses) > 1:
        names = ", ".join(status.budget.key for status in statuses)
        return f"is covered by {len(statuses)} PodDisruptionBudgets ({names}); the Eviction API refuses such pods"
    return None


def pod_disruption_budget(pod: Pod, context: EligibilityContext) -> str | None:
    """A budget whose status cannot be trusted, or that lets nothing go now; nobody misses a pod that is not evicted."""
    for status in context.budgets.of(pod):
        name = f"PodDisruptionBudget {status.budget.key}"
        if status.problem is not None:
            return f"is covered by {name}, whose status cannot be trusted: {status.problem}"
        if not context.methods.is_evicted(pod):
            continue
        if status.allowed == 0 and not (status.lets_unready_go and not counts_as_ready(pod)):
            return f"is covered by {name}, which allows no disruption now: {_numbers(status)}"
    return None


def without_budget(pod: Pod, context: EligibilityContext) -> str | None:
    """Where the policy asks for it, only a PodDisruptionBudget says that a workload may be disturbed."""
    if context.policy.disruption.without_budget is Permission.ALLOW or context.budgets.of(pod):
        return None
    return "is covered by no PodDisruptionBudget (policy: disruption.withoutBudget)"


def single_replica(pod: Pod, context: EligibilityContext) -> str | None:
    """Moving the only replica stops the service."""
    if context.policy.disruption.single_replicas is Permission.ALLOW or not context.methods.is_evicted(pod):
        return None
    status = context.workloads.of(pod)
    if status is not None and status.desired == 1:
        return f"is the single replica of {status.workload.key} (policy: disruption.singleReplicas)"
    return None


def workload_budget(pod: Pod, context: EligibilityContext) -> str | None:
    """Every workload keeps a floor of ready pods, with or without a PodDisruptionBudget."""
    status = context.workloads.of(pod)
    if status is None:
        return None
    name = status.workload.key
    if status.desired == 0:
        return f"belongs to {name}, which wants no replicas: nothing would replace it"
    if not context.methods.is_evicted(pod):
        return None
    if status.limit > 0 and (status.unready < status.limit or _is_free(pod, status.unready, status.limit)):
        return None
    return (
        f"belongs to {name}, of which {status.limit} of {status.desired} replicas may be unready at a time and "
        f"{status.unready} are already (policy: disruption.workloads.maxUnavailable)"
    )


def _is_free(pod: Pod, unready: int, limit: int) -> bool:
    """A pod that is counted as unready already takes nothing more away."""
    return unready == limit and not counts_as_ready(pod)


def _numbers(status: PodBudgetStatus) -> str:
    budget = status.budget
    return (
        f"disruptionsAllowed {budget.disruptions_allowed}, currentHealthy {budget.current_healthy}, "
        f"desiredHealthy {budget.desired_healthy}, ready as counted here {status.ready}"
    )
