"""A node: what it offers, its labels and taints, and whether pods may be put on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.resources import Resources

_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


class Node(Struct, frozen=True, gc=False):
    """One node as it was read.

    ``allocatable`` includes ``pods``. ``images`` are (name, size in bytes) pairs, one for each name.
    ``annotations`` hold only the keys that steer disruption. ``problem`` says why the node can be neither source nor
    target although it was read (no allocatable, say). ``addresses`` are (type, address) pairs, by which sources of
    measured use may call the node: InternalIP, Hostname and so on.
    """

    name: str
    uid: str = ""
    allocatable: Resources = ()
    capacity: Resources = ()
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    is_unschedulable: bool = False
    is_ready: bool = True
    images: tuple[tuple[str, int], ...] = ()
    created_at: float | None = None
    deletion_at: float | None = None
    problem: str | None = None
    addresses: tuple[tuple[str, str], ...] = ()

    @property
    def is_virtual(self) -> bool:
        """True for a virtual kubelet's node, which is neither source nor target."""
        return self.labels.get("type") == "virtual-kubelet"

    @property
    def is_open(self) -> bool:
        """Whether it is Ready, not cordoned, and nothing that was read of it is wrong."""
        return self.is_ready and not self.is_unschedulable and self.problem is None

    @property
    def zone(self) -> str:
        """Its failure domain as its labels say; empty where they do not."""
        return next((self.labels[key] for key in _ZONES if key in self.labels), "")


# Marks by which autoscalers say that a node is about to go, or has not quite arrived.

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
