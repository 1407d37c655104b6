"""Pods for which nobody can say where they would go, or that no scheduler looks at."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.pod import Pod


def unmodelled_predicate(pod: Pod, _: EligibilityContext) -> str | None:
    """A predicate that is not modelled could refuse every node."""
    if pod.spec.unmodelled:
        return f"carries a scheduling rule that is not modelled ({', '.join(pod.spec.unmodelled)})"
    return None


def unknown_scheduler(pod: Pod, context: EligibilityContext) -> str | None:
    """A scheduler whose configuration is not known cannot be predicted."""
    name = pod.spec.scheduler_name
    if name in context.schedulers:
        return None
    known = ", ".join(sorted(context.schedulers))
    return f"belongs to scheduler {name}, which cannot be predicted; known: {known}"


def scheduling_gated(pod: Pod, _: EligibilityContext) -> str | None:
    """No scheduler looks at a gated pod, whatever room there is."""
    return f"has scheduling gates ({', '.join(pod.scheduling_gates)})" if pod.scheduling_gates else None
