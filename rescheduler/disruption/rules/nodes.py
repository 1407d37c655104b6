"""Nodes whose pods are left alone."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.columns.selectors import describe, selects
from rescheduler.model.objects.node import node_mark
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Permission


def unusable_node(pod: Pod, context: EligibilityContext) -> str | None:
    """A node that is not in the snapshot, or could be read only in part, is no source."""
    node = context.cluster.node_by_name.get(pod.node_name or "")
    if node is None:
        return f"is on node {pod.node_name}, which is not in the snapshot" if pod.node_name else "is on no node"
    return f"is on node {node.name}, which cannot be used: {node.problem}" if node.problem else None


def not_ready_node(pod: Pod, context: EligibilityContext) -> str | None:
    """Of a node that does not answer nobody knows what its pods are at; Kubernetes deals with them itself."""
    node = context.cluster.node_by_name.get(pod.node_name or "")
    if node is None or node.is_ready or context.policy.disruption.not_ready is Permission.ALLOW:
        return None
    return f"is on node {node.name}, which is not Ready (policy: disruption.notReady)"


def virtual_node(pod: Pod, context: EligibilityContext) -> str | None:
    """A virtual kubelet's node has no room of its own to win."""
    node = context.cluster.node_by_name.get(pod.node_name or "")
    if node is not None and node.is_virtual:
        return f"is on virtual node {node.name} (type=virtual-kubelet)"
    return None


def marked_node(pod: Pod, context: EligibilityContext) -> str | None:
    """A node that an autoscaler takes away, or that is still starting, is left to itself."""
    node = context.cluster.node_by_name.get(pod.node_name or "")
    mark = None if node is None else node_mark(node)
    return None if mark is None else f"is on node {pod.node_name}, which {mark}"


def node_selector(pod: Pod, context: EligibilityContext) -> str | None:
    """Nodes that the policy's scope selects."""
    node = context.cluster.node_by_name.get(pod.node_name or "")
    selector = context.node_selector
    if node is not None and not selects(selector, node.labels):
        return f"is on node {node.name}, outside of the policy's scope.nodeSelector ({describe(selector)})"
    return None
