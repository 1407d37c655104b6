"""Workloads that are in motion, or whose pods may not come back; asked where the policy denies such pods."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import PodAutoscaler, Workload
from rescheduler.policy.fields.policy import Permission
from rescheduler.policy.fields.values import format_duration

POLICY = "(policy: disruption.unsettled)"
RUN = "(run leaves it alone)"


def rollout(pod: Pod, context: EligibilityContext) -> str | None:
    """A rollout takes pods away by itself, and PodDisruptionBudgets do not bind it."""
    owner, workload = context.cluster.owner_of(pod), context.cluster.workload_of(pod)
    if _is_allowed(context) or owner is None or workload is None:
        return None
    for item in (workload, owner) if owner.uid != workload.uid else (workload,):
        reason = _motion(item, context)
        if reason is not None:
            return f"belongs to {item.key}, which {reason} {_by(context)}"
    if context.revisions.alive(workload.uid) > 1:
        return f"belongs to {workload.key}, of which two revisions are alive {_by(context)}"
    return None


def rescaled(pod: Pod, context: EligibilityContext) -> str | None:
    """Whoever changes the number of replicas is still at it: a person, an autoscaler."""
    workload = context.cluster.workload_of(pod)
    known = None if workload is None else context.wanted.get(workload.uid)
    if _is_allowed(context) or workload is None or known is None or known.changed_at is None:
        return None
    left = known.changed_at + context.policy.disruption.quiet - context.cluster.taken_at
    if left <= 0:
        return None
    again = format_duration(float(round(left)))
    return f"belongs to {workload.key}, which was just scaled; quiet for another {again} (policy: disruption.quiet)"


def autoscaled(pod: Pod, context: EligibilityContext) -> str | None:
    """A HorizontalPodAutoscaler that is at it, or has just been, makes and takes away replicas by itself."""
    cluster = context.cluster
    if _is_allowed(context) or not cluster.autoscalers:
        return None
    for item in (cluster.workload_of(pod), cluster.owner_of(pod)):
        target = None if item is None else (item.group, item.kind, item.namespace, item.name)
        for found in () if target is None else cluster.autoscalers_by_target.get(target, ()):
            reason = _scaling(found, context)
            if item is not None and reason is not None:
                return f"belongs to {item.key}, which HorizontalPodAutoscaler {found.name} {reason}"
    return None


def _scaling(found: PodAutoscaler, context: EligibilityContext) -> str | None:
    """What an autoscaler does to its workload, or has just done, as the rest of a sentence."""
    if _is_scaling(found):
        return f"is scaling from {found.current_replicas} to {found.desired_replicas} {_by(context)}"
    if found.last_scale_at is None:
        return None
    left = found.last_scale_at + context.policy.disruption.quiet - context.cluster.taken_at
    again = format_duration(float(round(left)))
    return f"has just scaled; quiet for another {again} (policy: disruption.quiet)" if left > 0 else None


def _is_scaling(found: PodAutoscaler) -> bool:
    """An autoscaler that has never scaled and wants none has not come to any number yet."""
    is_told = None not in (found.current_replicas, found.desired_replicas)
    is_blank = not found.desired_replicas and found.last_scale_at is None
    return is_told and not is_blank and found.current_replicas != found.desired_replicas


def incomplete_stateful_set(pod: Pod, context: EligibilityContext) -> str | None:
    """The members of a StatefulSet know each other: one may go only when all the others are there."""
    if _is_allowed(context):
        return None
    standing, owner = context.workloads.of(pod), context.cluster.owner_of(pod)
    if standing is None or owner is None or owner.kind != "StatefulSet":
        return None
    if standing.unready:
        ready = f"only {standing.ready} of {standing.desired} replicas are ready"
        return f"belongs to {owner.key}, of which {ready} {_by(context)}"
    return None


def replacement_in_doubt(pod: Pod, context: EligibilityContext) -> str | None:
    """A pod that would not be made again, or would not run again, stays."""
    if _is_allowed(context):
        return None
    owner, workload = context.cluster.owner_of(pod), context.cluster.workload_of(pod)
    for item in (owner, workload):
        if item is not None and item.failure:
            return f"belongs to {item.key}, which cannot make pods now: {item.failure} {_by(context)}"
    if workload is not None:
        other = context.revisions.troubled(workload.uid, pod)
        if other is not None:
            return f"belongs to {workload.key}, of which {other.name} cannot run: {other.trouble} {_by(context)}"
    quota = None if context.is_own_surge(pod) else context.quotas.objection(pod)
    return None if quota is None else f"might not be made again: {quota} {_by(context)}"


def unstable_reason(pod: Pod, context: EligibilityContext) -> str | None:
    """The first of these reasons to leave a pod alone."""
    rules = (rollout, rescaled, autoscaled, incomplete_stateful_set, replacement_in_doubt)
    return next((reason for rule in rules if (reason := rule(pod, context)) is not None), None)


def _is_allowed(context: EligibilityContext) -> bool:
    """A daemon, which nobody watches, leaves them alone whatever the policy says."""
    return context.policy.disruption.unsettled is Permission.ALLOW and not context.is_daemon


def _by(context: EligibilityContext) -> str:
    return POLICY if context.policy.disruption.unsettled is Permission.DENY else RUN


def _motion(workload: Workload, context: EligibilityContext) -> str | None:
    """What of a workload's own status says that it is not at rest."""
    desired, updated, current = workload.desired_replicas, workload.updated_replicas, workload.current_replicas
    if workload.is_terminating:
        return "is being deleted"
    if workload.is_paused:
        return "is paused"
    if workload.observed_generation < workload.generation:
        return f"was changed (generation {workload.generation}, observed {workload.observed_generation})"
    missing = _missing_by_us(workload, context)
    if desired is not None and updated is not None and updated + missing < desired:
        return f"is rolling out: {updated} of {desired} replicas are up to date"
    if desired is not None and current is not None and current > desired:
        return f"has {current} replicas and wants {desired}"
    return None


def _missing_by_us(workload: Workload, context: EligibilityContext) -> int:
    """Pods that are not counted any more because they were evicted, or go by themselves."""
    debts = sum(entry.workload == workload.uid for entry in context.ledger.debts)
    return max(debts, context.sent.get(workload.uid, 0), context.revisions.leaving(workload.uid))
