"""What forbids moving anything for now, or moving this again: the kill switch, the breaker, and the back-off."""

from __future__ import annotations

from rescheduler.disruption.breaker import breaker_objection
from rescheduler.disruption.eligibility_context import Circumstances
from rescheduler.model.objects.pod import Pod


def stop(_: Pod, circumstances: Circumstances) -> str | None:
    """The kill switch, for everybody."""
    return None if circumstances.stop is None else f"stays: everything is stopped: {circumstances.stop}"


def breaker(_: Pod, circumstances: Circumstances) -> str | None:
    """The circuit breaker, for the daemon."""
    if not circumstances.is_daemon:
        return None
    rules, now = circumstances.policy.disruption.breaker, circumstances.cluster.taken_at
    objection = breaker_objection(circumstances.breaker, rules, now)
    return None if objection is None else f"stays: {objection}"


def back_off(pod: Pod, circumstances: Circumstances) -> str | None:
    """What was moved in vain, or just now, is left alone by the daemon."""
    workload = circumstances.cluster.workload_of(pod) if circumstances.is_daemon else None
    return None if workload is None else circumstances.back_off.objection(pod, workload.uid)


def left_to_others(pod: Pod, circumstances: Circumstances) -> str | None:
    """An autoscaler makes room for the pod; moving others for it as well would be for nothing."""
    return circumstances.left.get(pod.uid)
