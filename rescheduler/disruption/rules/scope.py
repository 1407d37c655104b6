"""What the policy, and the options of the call, leave within reach."""

from __future__ import annotations

from typing import Final

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.columns.selectors import describe, selects
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import SYSTEM_NAMESPACES, Permission, minimum_age_in_force

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""Label that an API server gives every namespace."""


def system_namespace(pod: Pod, context: EligibilityContext) -> str | None:
    """What keeps the cluster itself alive, and whoever evicts; what the policy includes does not change that."""
    if context.policy.scope.system_namespaces is Permission.ALLOW:
        return None
    if pod.namespace in SYSTEM_NAMESPACES or pod.namespace == context.selection.own.namespace:
        whose = "the cluster's" if pod.namespace in SYSTEM_NAMESPACES else "the rescheduler's"
        return f"is in namespace {pod.namespace}, {whose} own (policy: scope.systemNamespaces)"
    return None


def namespace(pod: Pod, context: EligibilityContext) -> str | None:
    """Namespaces that the policy includes, selects and does not exclude."""
    namespaces = context.policy.scope.namespaces
    if pod.namespace in namespaces.exclude:
        return f"is in namespace {pod.namespace}, which the policy excludes (scope.namespaces.exclude)"
    if namespaces.include is not None and pod.namespace not in namespaces.include:
        return f"is in namespace {pod.namespace}, which the policy does not include (scope.namespaces.include)"
    selector = context.namespace_selector
    known = context.cluster.namespace_labels.get(pod.namespace, {})
    if selector.requirements and not selects(selector, {NAMESPACE_NAME: pod.namespace, **known}):
        asked = f"scope.namespaceSelector ({describe(selector)})"
        return f"is in namespace {pod.namespace}, which does not match the policy's {asked}"
    return selected_namespace(pod, context)


def selected_namespace(pod: Pod, context: EligibilityContext) -> str | None:
    """Namespaces of this call (``-n``)."""
    selected = context.selection.namespaces
    if selected and pod.namespace not in selected:
        return f"is in namespace {pod.namespace}, outside of the selected {', '.join(selected)}"
    return None


def label_selector(pod: Pod, context: EligibilityContext) -> str | None:
    """Labels that the policy asks for."""
    if not selects(context.pod_selector, pod.labels):
        return f"does not match the policy's scope.labelSelector ({describe(context.pod_selector)})"
    return selected_labels(pod, context)


def selected_labels(pod: Pod, context: EligibilityContext) -> str | None:
    """Labels of this call (``-l``)."""
    selector = context.selection.selector
    if selector is not None and not selects(selector, pod.labels):
        return f"does not match the selector of this call ({describe(selector)})"
    return None


def priority_below(pod: Pod, context: EligibilityContext) -> str | None:
    """Only pods below a priority."""
    bound = context.policy.scope.priority_below
    if bound is not None and pod.spec.priority >= bound:
        return f"has priority {pod.spec.priority}; the policy moves only those below {bound} (scope.priorityBelow)"
    return None


def minimum_age(pod: Pod, context: EligibilityContext) -> str | None:
    """Only pods that have run for a while; a pod of unknown age is taken as new."""
    wanted = minimum_age_in_force(context.policy, is_daemon=context.is_daemon)
    if not wanted:
        return None
    began = pod.created_at if pod.started_at is None else pod.started_at
    if began is None:
        return f"has no start time; the policy moves only pods older than {wanted:g}s (scope.minimumAge)"
    age = context.cluster.taken_at - began
    return f"is {max(0.0, age):.0f}s old; the policy asks for {wanted:g}s (scope.minimumAge)" if age < wanted else None
