"""Of each field of a policy, which changes of it surely reach no further than before; what is not here may.

A rule is given the old value and the new one, in the form of a dump of the policy; True: surely no further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rescheduler.daemon.tighter_budgets import keeps_every_budget, share_or_count
from rescheduler.daemon.tighter_selectors import is_narrower_scope, is_narrower_selector

Rule = Callable[[Any, Any], bool]


def anything(_old: Any, _new: Any) -> bool:
    """The field has no bearing on what may be moved."""
    return True


def smaller(old: Any, new: Any) -> bool:
    """A smaller number reaches less far; None is no limit at all."""
    return bool(new == old or (new is not None and (old is None or new <= old)))


def smaller_not_off(old: Any, new: Any) -> bool:
    """The same for numbers of which 0 means off."""
    return bool(new == old or (new != 0 and (old == 0 or new <= old)))


def larger(old: Any, new: Any) -> bool:
    """A larger number reaches less far."""
    return bool(new >= old)


def in_order(*values: str) -> Rule:
    """Values that reach further, one after the other."""
    return lambda old, new: values.index(new) <= values.index(old)


def only(value: Any) -> Rule:
    """One value reaches least far; of others nothing is known."""
    return lambda old, new: new in (value, old)


def given(old: Any, new: Any) -> bool:
    """It is better to have one than none; which one does not matter."""
    return new is not None or old is None


def careful_start(old: Any, new: Any) -> bool:
    """A ramp-up that comes, or becomes slower."""
    if new is None or old is None:
        return new is not None
    slower = new["window"] >= old["window"] and new["doubleEvery"] >= old["doubleEvery"]
    return bool(new["start"] <= old["start"] and slower)


def fewer(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Some of the old entries, and no others."""
    left = list(old)
    for item in new:
        if item not in left:
            return False
        left.remove(item)
    return True


def first_of(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """The old objectives without the last of them, each move at the same cost or a higher one."""

    def essence(item: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in item.items() if key != "moveCost"}

    return len(new) <= len(old) and all(
        essence(a) == essence(b) and b["moveCost"] >= a["moveCost"] for a, b in zip(old, new, strict=False)
    )


DENY: Final = in_order("Deny", "Allow")
DIRECTIONS: Final[Mapping[str, Rule]] = {
    "metadata": anything,
    "mode": in_order("DryRun", "Approve", "Execute"),
    "guidance": lambda old, new: new == old or (new == "Hold" and old in ("Guide", "Taint")),
    "triggers": fewer,
    "objectives": first_of,
    "scope.namespaces": is_narrower_scope,
    "scope.labelSelector": is_narrower_selector,
    "scope.nodeSelector": is_narrower_selector,
    "scope.priorityBelow": smaller,
    "scope.minimumAge": larger,
    "limits.maxEvictions": smaller,
    "limits.maxEvictionsPerNode": smaller,
    "limits.maxEvictionsPerNamespace": smaller,
    "limits.deadline": anything,
    "limits.margin": larger,
    "disruption.workloads.maxUnavailable": share_or_count,
    "disruption.singleReplicas": DENY,
    "disruption.ownerless": DENY,
    "disruption.localStorage": DENY,
    "disruption.persistentVolumes": DENY,
    "disruption.unsettled": DENY,
    "disruption.budgets": keeps_every_budget,
    "disruption.quiet": larger,
    "disruption.breaker.failures": smaller_not_off,
    "disruption.breaker.of": larger,
    "disruption.breaker.repayWithin": smaller,
    "disruption.breaker.oldest": smaller,
    "disruption.breaker.rest": larger,
    "disruption.backOff.first": larger,
    "disruption.backOff.longest": larger,
    "disruption.backOff.rest": larger,
    "disruption.backOff.perDay": smaller_not_off,
    "disruption.rampUp": careful_start,
    "hold.deadline": smaller,
    "ledger.keep": larger,
    "health.settle": larger,
    "health.headRoom": larger,
    "health.calm": larger,
    "stop.file": lambda old, new: new == old or old is None,
    "usage.store": anything,
    "usage.api": anything,  # of another command
    "usage.trust.maximumAge": smaller,
    "usage.trust.minimumSamples": larger,
    "usage.trust.coverage": larger,
    "usage.trust.minimumNodeAge": larger,
    "usage.trust.disagreement": smaller,
    "usage.trust.largestDrop": smaller,
    "usage.trust.clockSkew": smaller,
    "leaderElection.enabled": lambda old, new: new is True or new == old or (new is None and old is False),
    "leaderElection.leaseDuration": anything,
    "leaderElection.renewDeadline": anything,
    "leaderElection.retryPeriod": anything,
    "api": only(None),
    "approval.expires": smaller,
    "telemetry": anything,
    "audit.file": given,
    "autoscaler.scaleUp": only("Leave"),
    "autoscaler.scaleDown": only("Leave"),
    "autoscaler.afterScaleUp": larger,
    "autoscaler.afterScaleDown": larger,
    **{
        f"health.{name}": smaller_not_off
        for name in (
            "changedNodes", "unreadyNodes", "unreadyInZone", "pendingRising", "apiErrors", "apiLatency", "watchAge",
            "clockOffset", "schedulerSilent", "replacedWithin",
        )
    },
}  # fmt: skip
"""By the field's path; of what stands below one that is here, nothing else is asked."""
