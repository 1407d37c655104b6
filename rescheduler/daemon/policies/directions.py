"""Of each field of a policy, which changes of it surely reach no further than before; what is not here may.

A rule is given the old value and the new one, in the form of a dump of the policy; True: surely no further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

# Whether every disruption budget of one policy surely still holds under another.

Budget = Mapping[str, Any]
_SAME = ("namespaces", "labelSelector", "per")
_WINDOWS = ("windows", "schedule", "duration", "timeZone")


def keeps_every_budget(old: Sequence[Budget], new: Sequence[Budget]) -> bool:
    """Each old budget has a new one that allows no more; further budgets only forbid. As a dumped policy has them."""
    return all(any(_is_tighter(kept, budget) for kept in new) for budget in old)


def share_or_count(old: Any, new: Any) -> bool:
    """Whether a number of pods, or a share of them, is no higher; one of each cannot be compared, but for 0."""
    if old == new or new == 0:
        return True
    if isinstance(old, str) and isinstance(new, str):
        return int(new.rstrip("%")) <= int(old.rstrip("%"))
    return isinstance(old, int) and isinstance(new, int) and new <= old


def _is_tighter(new: Budget, old: Budget) -> bool:
    """Of the same pods, counted in the same way, no limit is gone or higher."""
    if any(new[name] != old[name] for name in _SAME):
        return False
    has_windows = any(old[name] is not None for name in _WINDOWS)
    if has_windows and any(new[name] != old[name] for name in _WINDOWS):
        return False
    limits = ("maxUnavailable", "maxMoving")
    return all(_is_lower(new[name], old[name]) for name in limits) and _is_slower(new["rate"], old["rate"])


def _is_lower(new: Any, old: Any) -> bool:
    return old is None or (new is not None and share_or_count(old, new))


def _is_slower(new: Any, old: Any) -> bool:
    if old is None or new is None:
        return old is None
    return bool(new["maxEvictions"] <= old["maxEvictions"] and new["window"] >= old["window"])


# Whether one selector, or one choice of namespaces, surely selects nothing that another does not.


class _Demand(NamedTuple):
    key: str
    operator: str
    values: frozenset[str]


def is_narrower_selector(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Every demand of the old selector follows from one of the new; both as a dumped policy has them."""
    return all(any(_implies(mine, demand) for mine in _demands(new)) for demand in _demands(old))


def is_narrower_scope(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Every namespace that the new choice lets through was let through by the old one."""
    if new["include"] is None:
        return old["include"] is None and set(old["exclude"]) <= set(new["exclude"])
    chosen = set(new["include"]) - set(new["exclude"])
    return (old["include"] is None or chosen <= set(old["include"])) and not chosen & set(old["exclude"])


def _demands(selector: Mapping[str, Any]) -> Iterator[_Demand]:
    for key, value in selector["matchLabels"].items():
        yield _Demand(key, "In", frozenset([value]))
    for rule in selector["matchExpressions"]:
        yield _Demand(rule["key"], rule["operator"], frozenset(rule["values"]))


def _implies(mine: _Demand, wanted: _Demand) -> bool:
    if mine.key != wanted.key:
        return False
    if wanted.operator == "Exists":
        return mine.operator in ("Exists", "In")
    if wanted.operator == "NotIn" and mine.operator == "In":
        return not mine.values & wanted.values
    if wanted.operator == "NotIn" and mine.operator == "DoesNotExist":
        return True
    if mine.operator != wanted.operator:
        return False
    return mine.values >= wanted.values if wanted.operator == "NotIn" else mine.values <= wanted.values


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


def fewer_volumes(old: Any, new: Any) -> bool:
    """Deny, the same storage classes or fewer of them, or whatever there was where all could go."""
    if "Allow" in (old, new):
        return bool(old == "Allow")
    classes = [set() if value == "Deny" else set(value["storageClasses"]) for value in (old, new)]
    return classes[1] <= classes[0]


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
    "scope.systemNamespaces": DENY,
    "scope.namespaceSelector": is_narrower_selector,
    "scope.labelSelector": is_narrower_selector,
    "scope.nodeSelector": is_narrower_selector,
    "scope.priorityBelow": smaller,
    "scope.minimumAge": larger,
    "limits.maxEvictions": smaller,
    "limits.maxEvictionsPerNode": smaller,
    "limits.maxEvictionsPerNamespace": smaller,
    "limits.inFlight": smaller,
    "limits.deadline": anything,
    "limits.margin": larger,
    "disruption.workloads.maxUnavailable": share_or_count,
    "disruption.singleReplicas": DENY,
    "disruption.ownerless": DENY,
    "disruption.localStorage": DENY,
    "disruption.persistentVolumes": fewer_volumes,
    "disruption.withoutBudget": DENY,
    "disruption.ownerKinds": fewer,
    "disruption.notReady": DENY,
    "disruption.unsettled": DENY,
    "disruption.budgets": keeps_every_budget,
    "disruption.rates.perHour": smaller,
    "disruption.rates.perDay": smaller,
    "disruption.rates.perWorkloadPerHour": smaller,
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
    "autoscaler.consolidation": only("Karpenters"),
    "autoscaler.taints": only("Deny"),
    "autoscaler.firstTry": only("Off"),
    "autoscaler.firstTryEvictions": smaller,
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
