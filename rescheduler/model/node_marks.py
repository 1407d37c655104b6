"""Marks by which autoscalers say that a node is about to go, or has not quite arrived."""

from __future__ import annotations

from typing import Final

from rescheduler.model.constraints import Taint
from rescheduler.model.node import Node

LEAVING_TAINTS: Final = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/disrupted",
        "karpenter.sh/disruption",
    }
)
"""The autoscaler moves the pods of such a node itself."""
STARTING_TAINTS: Final = frozenset({"karpenter.sh/unregistered", "node.cloudprovider.kubernetes.io/uninitialized"})
STARTING_PREFIXES: Final = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)


KEPT: Final = ("cluster-autoscaler.kubernetes.io/scale-down-disabled", "karpenter.sh/do-not-disrupt")
"""Nothing is won by emptying such a node: it stays."""


def is_leaving(node: Node) -> bool:
    """Whether the node is being deleted, or an autoscaler is about to remove it."""
    return node.deletion_at is not None or any(taint.key in LEAVING_TAINTS for taint in node.taints)


def is_a_passing_mark(taint: Taint) -> bool:
    """Whether an autoscaler's taint says that a node comes or goes, not what kind of node it is."""
    return taint.key in LEAVING_TAINTS or taint.key in STARTING_TAINTS or taint.key.startswith(STARTING_PREFIXES)


def kept_mark(node: Node) -> str | None:
    """The annotation by which somebody forbids autoscalers to take the node away; None: there is none."""
    return next((key for key in KEPT if node.annotations.get(key) == "true"), None)


def node_mark(node: Node) -> str | None:
    """Why the node is neither source nor target, in words that follow "which"; None: no such mark."""
    if node.deletion_at is not None:
        return "is being deleted"
    for taint in node.taints:
        if taint.key in LEAVING_TAINTS:
            return f"an autoscaler is about to remove (taint {taint.key})"
        if taint.key in STARTING_TAINTS or taint.key.startswith(STARTING_PREFIXES):
            return f"is still starting (taint {taint.key})"
    return None
