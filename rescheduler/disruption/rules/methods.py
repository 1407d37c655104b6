"""Pods that are on their way already, or that cannot be moved by the method that the policy names."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.annotations import REQUEST_EVICT_ONLY, SURGE
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.surge_mark import surge_mark


def on_its_way(pod: Pod, context: EligibilityContext) -> str | None:
    """A pod that was taken out of its ReplicaSet goes, or is given back, by whoever took it out."""
    if SURGE not in pod.annotations or context.is_own_surge(pod):
        return None
    mark = surge_mark(pod.annotations)
    whose = "" if mark is None or not mark.plan else f" of plan {mark.plan}"
    return f"is on its way by a surge{whose} already"


def surge(pod: Pod, context: EligibilityContext) -> str | None:
    """Where a rule names Surge and nothing else, the pod is moved in no other way."""
    return None if REQUEST_EVICT_ONLY in pod.annotations else context.methods.of(pod).objection


def migrate(pod: Pod, context: EligibilityContext) -> str | None:
    """A pod whose owner moves it himself is asked for only where a rule says so."""
    return context.methods.of(pod).objection if REQUEST_EVICT_ONLY in pod.annotations else None


def asked_already(pod: Pod, context: EligibilityContext) -> str | None:
    """Whoever owns a pod is asked once; until it is known what he did, not again."""
    entry = context.asked_of_owners.get(pod.uid)
    return None if entry is None else f"was asked of whoever owns it already, by plan {entry.plan}"
