"""A node: what it offers, its labels and taints, and whether pods may be put on it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rescheduler.model.constraints import Taint
from rescheduler.model.resources import Resources

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
    def zone(self) -> str:
        """Its failure domain as its labels say; empty where they do not."""
        return next((self.labels[key] for key in _ZONES if key in self.labels), "")
