"""Pods that must stay because of what they are, or because nobody would replace them."""

from __future__ import annotations

import math

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.model.objects.annotations import CONFIG_SOURCE, MANAGED_BY, MIRROR, NAME, OURS, PART_OF
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
    for owner in pod.owners:
        if owner.kind == "DaemonSet":
            return f"belongs to DaemonSet {owner.name}, which would make it again on the same node"
    return None


def own_pod(pod: Pod, context: EligibilityContext) -> str | None:
    """Whoever evicts does not evict itself, nor those that stand by to take over."""
    own = context.selection.own
    if pod.labels.get(NAME) == OURS or pod.labels.get(PART_OF) == OURS:
        return "is a pod of the rescheduler itself"
    if not own.pod or pod.namespace != own.namespace:
        return None
    mine = context.cluster.pod_by_key.get(f"{own.namespace}/{own.pod}")
    is_sibling = mine is not None and mine.controller is not None and mine.controller == pod.controller
    return "is a pod of the rescheduler itself" if pod.name == own.pod or is_sibling else None


def job(pod: Pod, context: EligibilityContext) -> str | None:
    """An evicted Job pod loses its work and may count as a failure of the Job.

    Whatever made it, a pod that is not always started again runs to its end, as those of Jobs do.
    """
    if context.methods.is_migrated(pod):
        return None
    for owner in pod.owners:
        if owner.kind == "Job" and owner.group is None:
            return f"belongs to Job {owner.name}, whose work would be lost, and the eviction counted as a failure"
    policy = pod.spec.restart_policy
    if policy != "Always":
        return f"has restartPolicy {policy}: it runs to its end, as the pods of Jobs do, and its work would be lost"
    return None


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


def owner_unknown(pod: Pod, context: EligibilityContext) -> str | None:
    """An owner without uid cannot be told from a later one of the same name; references may be forged."""
    owner = pod.controller
    if owner is not None and not owner.uid:
        return f"names {owner.kind} {owner.name} as its controller without a uid: its replicas cannot be counted"
    problem = context.cluster.owner_problem(pod)
    return None if problem is None else f"{problem}: who replaces it is unclear"


REPLACING = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})
"""Kinds of Kubernetes' own whose controller makes another pod for one that was evicted."""


def custom_controller(pod: Pod, context: EligibilityContext) -> str | None:
    """Of other controllers only the operator knows whether they replace a pod, and at what price."""
    owner = pod.controller
    if owner is None or (owner.group is None and owner.kind in REPLACING) or context.methods.is_migrated(pod):
        return None
    group, listed = owner.api_group, context.policy.disruption.owner_kinds
    if any(found.kind == owner.kind and found.group == group for found in listed):
        return None
    return (
        f"belongs to {owner.written}, and whether that replaces an evicted pod is not known "
        f"(policy: disruption.ownerKinds; kind {owner.kind}, group {group or 'of the core'})"
    )


def ownerless(pod: Pod, context: EligibilityContext) -> str | None:
    """Without a controller an evicted pod is lost."""
    if context.policy.disruption.ownerless is Permission.ALLOW or context.methods.is_migrated(pod):
        return None
    owner = context.cluster.owner_of(pod)
    if owner is None:
        return "has no controller that would replace it (policy: disruption.ownerless)"
    if owner.is_terminating:
        return f"belongs to {owner.key}, which is being deleted and would not replace it"
    return None


def not_ready(pod: Pod, context: EligibilityContext) -> str | None:
    """A pod that does not work is a matter of repair: it may hold a lock, or recover what it would lose."""
    if context.policy.disruption.not_ready is Permission.ALLOW or counts_as_ready(pod):
        return None
    return "is not Ready (policy: disruption.notReady)"


def moved_once(pod: Pod, context: EligibilityContext) -> str | None:
    """Where a plan is planned again while it is carried out, nobody moves twice: a pod made since its first snapshot.

    That is the replacement of one that was moved, or as new as these.
    """
    since = context.earlier.since
    if since is None or (pod.created_at is not None and pod.created_at < math.floor(since)):
        return None
    return "was made while this plan was carried out, and no pod moves twice in one"
