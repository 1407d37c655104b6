"""What forbids moving anything for now, or moving this again: the kill switch, the breaker, and the back-off."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.gate.breaker import breaker_objection
from rescheduler.model.objects.pod import Pod


def stop(_: Pod, context: EligibilityContext) -> str | None:
    """The kill switch, for everybody."""
    return None if context.stop is None else f"stays: everything is stopped: {context.stop}"


def breaker(_: Pod, context: EligibilityContext) -> str | None:
    """The circuit breaker, for the daemon."""
    if not context.is_daemon:
        return None
    rules, now = context.policy.disruption.breaker, context.cluster.taken_at
    objection = breaker_objection(context.breaker, rules, now)
    return None if objection is None else f"stays: {objection}"


def back_off(pod: Pod, context: EligibilityContext) -> str | None:
    """What was moved in vain, or just now, is left alone by the daemon."""
    workload = context.cluster.workload_of(pod) if context.is_daemon else None
    return None if workload is None else context.back_off.objection(pod, workload.uid)


def left_to_others(pod: Pod, context: EligibilityContext) -> str | None:
    """An autoscaler makes room for the pod; moving others for it as well would be for nothing."""
    return context.left.get(pod.uid)
