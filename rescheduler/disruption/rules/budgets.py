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
    standings = context.budgets.of(pod)
    if len(standings) > 1:
        names = ", ".join(standing.budget.key for standing in standings)
        return f"is covered by {len(standings)} PodDisruptionBudgets ({names}); the Eviction API refuses such pods"
    return None


def pod_disruption_budget(pod: Pod, context: EligibilityContext) -> str | None:
    """A budget whose status cannot be trusted, or that lets nothing go now."""
    for standing in context.budgets.of(pod):
        name = f"PodDisruptionBudget {standing.budget.key}"
        if standing.problem is not None:
            return f"is covered by {name}, whose status cannot be trusted: {standing.problem}"
        if standing.allowed == 0 and not (standing.lets_unready_go and not counts_as_ready(pod)):
            return f"is covered by {name}, which allows no disruption now: {_numbers(standing)}"
    return None


def single_replica(pod: Pod, context: EligibilityContext) -> str | None:
    """Moving the only replica stops the service."""
    if context.policy.disruption.single_replicas is Permission.ALLOW:
        return None
    standing = context.workloads.of(pod)
    if standing is not None and standing.desired == 1:
        return f"is the single replica of {standing.workload.key} (policy: disruption.singleReplicas)"
    return None


def workload_budget(pod: Pod, context: EligibilityContext) -> str | None:
    """Every workload keeps a floor of ready pods, with or without a PodDisruptionBudget."""
    standing = context.workloads.of(pod)
    if standing is None:
        return None
    name = standing.workload.key
    if standing.desired == 0:
        return f"belongs to {name}, which wants no replicas: nothing would replace it"
    if standing.limit > 0 and (standing.unready < standing.limit or _is_free(pod, standing.unready, standing.limit)):
        return None
    return (
        f"belongs to {name}, of which {standing.limit} of {standing.desired} replicas may be unready at a time and "
        f"{standing.unready} are already (policy: disruption.workloads.maxUnavailable)"
    )


def _is_free(pod: Pod, unready: int, limit: int) -> bool:
    """A pod that is counted as unready already takes nothing more away."""
    return unready == limit and not counts_as_ready(pod)


def _numbers(standing: PodBudgetStatus) -> str:
    budget = standing.budget
    return (
        f"disruptionsAllowed {budget.disruptions_allowed}, currentHealthy {budget.current_healthy}, "
        f"desiredHealthy {budget.desired_healthy}, ready by our own count {standing.ready}"
    )
