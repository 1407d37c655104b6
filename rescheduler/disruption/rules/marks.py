"""Marks that people put on pods to keep evictions away; a mark can only narrow what may be moved."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.annotations import DO_NOT_DISRUPT, DO_NOT_EVICT, PREFER_NO_EVICTION, SAFE_TO_EVICT
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.values import parse_duration


def safe_to_evict(pod: Pod, _: EligibilityContext) -> str | None:
    """Mark of the cluster-autoscaler."""
    return f'is annotated {SAFE_TO_EVICT}: "false"' if pod.annotations.get(SAFE_TO_EVICT) == "false" else None


def prefer_no_eviction(pod: Pod, _: EligibilityContext) -> str | None:
    """Mark of the descheduler: its presence counts, whatever its value."""
    return f"is annotated {PREFER_NO_EVICTION}" if PREFER_NO_EVICTION in pod.annotations else None


def do_not_evict(pod: Pod, _: EligibilityContext) -> str | None:
    """Our own mark."""
    return f'is annotated {DO_NOT_EVICT}: "true"' if pod.annotations.get(DO_NOT_EVICT) == "true" else None


def do_not_disrupt(pod: Pod, context: EligibilityContext) -> str | None:
    """Mark of karpenter: "true", or a duration that protects the pod from its start on.

    A value that cannot be read protects too: whoever wrote it wanted protection.
    """
    value = pod.annotations.get(DO_NOT_DISRUPT)
    if value is None or value == "false":
        return None
    if value == "true":
        return f'is annotated {DO_NOT_DISRUPT}: "true"'
    try:
        seconds = parse_duration(value)
    except ValueError:
        return (
            f'is annotated {DO_NOT_DISRUPT}: "{value[:40]}", which is neither "true" nor a duration such as 90s or '
            "1h30m; it is taken as protection"
        )
    if pod.started_at is None:
        return f'is annotated {DO_NOT_DISRUPT}: "{value}", and when it started is not known'
    left = pod.started_at + seconds - context.cluster.taken_at
    return f'is annotated {DO_NOT_DISRUPT}: "{value}", of which {left:.0f}s are left' if left > 0 else None
