"""What a policy allows, counted plainly from its fields."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Permission, Policy
from rescheduler.policy.fields.selectors import PolicySelector


def most_missing(policy: Policy, desired: int) -> int:
    """B(w): how many of so many replicas may be missing at once."""
    limit = policy.disruption.workloads.max_unavailable
    if desired == 0 or (desired == 1 and policy.disruption.single_replicas is not Permission.ALLOW):
        return 0
    if isinstance(limit, int):
        return limit
    share = int(limit.removesuffix("%"))
    return max(1, desired * share // 100) if share else 0


def share_of(limit: int | str, whole: int) -> int:
    """A number, or a percentage of a whole rounded towards fewer."""
    return limit if isinstance(limit, int) else whole * int(limit.removesuffix("%")) // 100


def matches(labels: Mapping[str, str], selector: PolicySelector) -> bool:
    """Whether labels fit a selector of the policy; an empty one narrows nothing."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    for rule in selector.match_expressions:
        value = labels.get(rule.key)
        holds = {
            "In": value in rule.values,
            "NotIn": value is None or value not in rule.values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[rule.operator]
        if not holds:
            return False
    return True


def in_scope(pod: Pod, policy: Policy) -> bool:
    """Whether the policy's scope reaches a pod, its node left out."""
    spaces = policy.scope.namespaces
    if pod.namespace in spaces.exclude or (spaces.include is not None and pod.namespace not in spaces.include):
        return False
    below = policy.scope.priority_below
    if below is not None and pod.spec.priority >= below:
        return False
    return matches(pod.labels, policy.scope.label_selector)
