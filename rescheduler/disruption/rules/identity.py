"""Pods that must stay because of what they are, or because nobody would replace them."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.annotations import CONFIG_SOURCE, MANAGED_BY, MIRROR, OURS
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Permission

CRITICAL_PRIORITY = 2_000_000_000
"""Value of system-cluster-critical, the lowest of the two priorities that Kubernetes keeps for itself."""


def finished(pod: Pod, _: EligibilityContext) -> str | None:
    """A finished pod holds nothing and is not recreated."""
    return f"has finished (phase {pod.phase}) and holds no room" if pod.is_finished else None


def terminating(pod: Pod, _: EligibilityContext) -> str | None:
    """A terminating pod goes by itself; a second eviction could only shorten its grace period."""
    return "is terminating already" if pod.is_terminating else None


def placeholder(pod: Pod, _: EligibilityContext) -> str | None:
    """Our own placeholders keep holes; they are released, never moved or helped."""
    return "is a placeholder of the rescheduler itself" if pod.labels.get(MANAGED_BY) == OURS else None


def mirror_pod(pod: Pod, _: EligibilityContext) -> str | None:
    """Static pods belong to one node's kubelet."""
    is_static = pod.annotations.get(CONFIG_SOURCE, "api") != "api"
    if MIRROR in pod.annotations or is_static or any(owner.kind == "Node" for owner in pod.owners):
        return "is a mirror pod: only the kubelet of its node makes it"
    return None


def daemon_set(pod: Pod, _: EligibilityContext) -> str | None:
    """A DaemonSet would put the pod back on the same node."""
    return _owned_by(pod, "DaemonSet", "which would make it again on the same node")


def job(pod: Pod, _: EligibilityContext) -> str | None:
    """An evicted Job pod loses its work and may count as a failure of the Job."""
    return _owned_by(pod, "Job", "whose work would be lost, and the eviction counted as a failure")


def critical_priority(pod: Pod, _: EligibilityContext) -> str | None:
    """Priorities of system-cluster-critical and above keep the cluster itself alive."""
    if pod.spec.priority >= CRITICAL_PRIORITY:
        return f"has priority {pod.spec.priority}; {CRITICAL_PRIORITY} and above are never moved"
    return None


def several_controllers(pod: Pod, _: EligibilityContext) -> str | None:
    """With two controllers nobody can say which one replaces the pod."""
    controllers = [f"{owner.kind} {owner.name}" for owner in pod.owners if owner.is_controller]
    if len(controllers) > 1:
        return f"has {len(controllers)} controllers ({', '.join(controllers)}): who replaces it is unclear"
    return None


def owner_unknown(pod: Pod, _: EligibilityContext) -> str | None:
    """An owner without uid cannot be told from a later one of the same name."""
    owner = pod.controller
    if owner is not None and not owner.uid:
        return f"names {owner.kind} {owner.name} as its controller without a uid: its replicas cannot be counted"
    return None


def ownerless(pod: Pod, context: EligibilityContext) -> str | None:
    """Without a controller an evicted pod is lost."""
    if context.policy.disruption.ownerless is Permission.ALLOW:
        return None
    owner = context.cluster.owner_of(pod)
    if owner is None:
        return "has no controller that would replace it (policy: disruption.ownerless)"
    if owner.is_terminating:
        return f"belongs to {owner.key}, which is being deleted and would not replace it"
    return None


def _owned_by(pod: Pod, kind: str, consequence: str) -> str | None:
    for owner in pod.owners:
        if owner.kind == kind:
            return f"belongs to {kind} {owner.name}, {consequence}"
    return None
