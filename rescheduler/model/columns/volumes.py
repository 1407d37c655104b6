"""Which claims a pod uses, and who else uses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec.structs import replace

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.selectors import holds
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

if TYPE_CHECKING:
    from rescheduler.model.columns.columns import Columns


# On which nodes a claim's volume is, could be bound, or could be provisioned.

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


Binding: TypeAlias = tuple[PersistentVolume, BoolArray]
"""A volume, and the nodes, bool[N], on which a claim would get it."""


class VolumesByClass(dict[str, list[PersistentVolume]]):
    """Persistent volumes of each storage class, smallest first."""

    def __init__(self, columns: Columns) -> None:
        """Sort the cluster's volumes once."""
        super().__init__()
        for volume in sorted(columns.cluster.volumes, key=lambda volume: (volume.capacity_bytes, volume.name)):
            self.setdefault(volume.storage_class, []).append(volume)


def reachable(columns: Columns, volume: PersistentVolume) -> BoolArray:
    """Nodes that a volume's own node affinity allows, bool[N]; do not write to it."""
    if volume.node_affinity is None:
        return np.ones(columns.node_count, dtype=np.bool_)
    return columns.node_table.matching_any(volume.node_affinity)


def bindable(columns: Columns, claims: Sequence[PersistentVolumeClaim]) -> list[BoolArray]:
    """For each claim the nodes, bool[N], where an existing volume is free for it; claims as in ``bindings``."""
    nowhere = np.zeros(columns.node_count, dtype=np.bool_)
    return [np.logical_or.reduce([nowhere, *(mask for _, mask in chosen)]) for chosen in bindings(columns, claims)]


def bindings(columns: Columns, claims: Sequence[PersistentVolumeClaim]) -> list[list[Binding]]:
    """For each claim the volumes it would get, with the nodes, bool[N], on which it would get each.

    Claims must come smallest first: each takes the smallest volume that fits, which the next ones then cannot have.
    """
    taken: dict[str, BoolArray] = {}
    found = []
    for claim in claims:
        chosen: list[Binding] = []
        is_open = np.ones(columns.node_count, dtype=np.bool_)
        for volume in columns.facts(VolumesByClass).get(claim.storage_class, ()):
            if not suits(volume, claim):
                continue
            gets = reachable(columns, volume) & is_open
            if volume.name in taken:
                gets &= ~taken[volume.name]
            chosen.append((volume, gets))
            is_open &= ~gets
            taken[volume.name] = taken.get(volume.name, np.zeros_like(gets)) | gets
            if not is_open.any():
                break
        found.append(chosen)
    return found


def suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume can be bound to a claim, wherever it is: size, mode, access, selector, and nobody else's."""
    is_reserved = volume.claim is not None
    if is_reserved and not _is_reserved_for(volume, claim):
        return False
    if (
        volume.is_terminating
        or volume.capacity_bytes < claim.requested_bytes
        or volume.volume_mode != claim.volume_mode
    ):
        return False
    if is_reserved:
        return True
    rules = claim.selector.requirements if claim.selector else ()
    return (
        volume.phase == "Available"
        and set(claim.access_modes) <= set(volume.access_modes)
        and all(holds(rule, volume.labels.get(rule.key)) for rule in rules)
    )


def _is_reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    if volume.claim is None:
        return False
    namespace, name, uid = volume.claim
    return (namespace, name) == (claim.namespace, claim.name) and uid in ("", claim.uid)


def provisionable(columns: Columns, claim: PersistentVolumeClaim) -> tuple[BoolArray, BoolArray]:
    """Nodes where a new volume may be made for a claim, and nodes where storage is known to suffice, both bool[N]."""
    nowhere = np.zeros(columns.node_count, dtype=np.bool_)
    storage_class = columns.cluster.storage_class_by_name.get(claim.storage_class)
    if storage_class is None or storage_class.provisioner in ("", NO_PROVISIONER):
        return nowhere, ~nowhere
    allowed = ~nowhere
    if storage_class.allowed_topologies:
        allowed = columns.node_table.matching_any(storage_class.allowed_topologies)
    return allowed, _with_capacity(columns, storage_class, claim.requested_bytes)


def _with_capacity(columns: Columns, storage_class: StorageClass, requested_bytes: int) -> BoolArray:
    """Nodes with a CSIStorageCapacity of the class that is large enough; all, if the driver publishes none."""
    capacity = published_capacity(columns, storage_class, requested_bytes)
    return np.ones(columns.node_count, dtype=np.bool_) if capacity is None else capacity >= 0


def published_capacity(columns: Columns, storage_class: StorageClass, requested_bytes: int) -> IntArray | None:
    """Capacity in bytes that the first sufficient CSIStorageCapacity tells for each node, int64[N], -1 for none.

    None where it does not matter: the driver publishes none, or nothing is requested.
    """
    cluster = columns.cluster
    publishes = any(
        driver.name == storage_class.provisioner and driver.has_storage_capacity for driver in cluster.csi_drivers
    )
    if not publishes or requested_bytes == 0:
        return None
    found = np.full(columns.node_count, -1, dtype=np.int64)
    for capacity in cluster.csi_capacities:
        largest = capacity.maximum_volume_bytes
        limit = capacity.capacity_bytes if largest is None else largest
        is_enough = capacity.storage_class == storage_class.name and limit >= requested_bytes
        if is_enough and capacity.node_topology is not None:
            nodes = columns.node_table.labels.matching(capacity.node_topology.requirements)
            found[nodes & (found < 0)] = capacity.capacity_bytes
    return found


CLAIM: Final = "PersistentVolumeClaim"
EPHEMERAL: Final = "Ephemeral"

# Labels that tell a volume's zone or region, old and new; an old one may be answered by the node's new one.
TOPOLOGY_KEYS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}

ClaimKey: TypeAlias = tuple[str, str]


class PodClaims:
    """Claims of pods, as the scheduler will find them when it places the pod."""

    def __init__(self, columns: Columns) -> None:
        """Look once at every pod that has volumes."""
        self._columns = columns
        self._users: dict[ClaimKey, list[int]] = {}
        for number, pod in enumerate(columns.cluster.pods):
            for volume in pod.volumes:
                if volume.kind in (CLAIM, EPHEMERAL):
                    self._users.setdefault((pod.namespace, volume.claim), []).append(number)

    def users(self, key: ClaimKey) -> IntArray:
        """Pods that name a claim, wherever they are."""
        return np.array(self._users.get(key, ()), dtype=np.int64)

    def of(self, pod: Pod) -> tuple[tuple[str, str, PersistentVolumeClaim | None], ...]:
        """Kind, name and object (None: missing) of each claim, in the pod's order.

        The claim of a generic ephemeral volume goes with its pod: a moved pod gets a new one, bound where it lands.
        """
        found = []
        for volume in pod.volumes:
            if volume.kind not in (CLAIM, EPHEMERAL):
                continue
            claim = self._columns.cluster.claim_by_key.get((pod.namespace, volume.claim))
            if volume.kind == EPHEMERAL and pod.node_name is not None:
                if claim is None:
                    continue
                claim = self._anew(claim)
            found.append((volume.kind, volume.claim, claim))
        return tuple(found)

    def _anew(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        if not self.is_delayed(claim):
            return claim
        return replace(claim, is_bound=False, volume_name="", phase="Pending", selected_node=None, is_terminating=False)

    def is_delayed(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the claim's class waits for a pod before it binds."""
        storage_class = self._columns.cluster.storage_class_by_name.get(claim.storage_class)
        return storage_class is not None and storage_class.is_wait_for_first_consumer


def topology_signature(columns: Columns, pod: Pod) -> tuple[object, ...]:
    """What decides where a pod's claims let it go; equal for pods that may go to the same nodes."""
    if not pod.volumes:
        return ()
    parts: list[object] = []
    for kind, name, claim in columns.facts(PodClaims).of(pod):
        volume = columns.cluster.volume_by_name.get(claim.volume_name) if claim is not None else None
        if (
            claim is None
            or volume is None
            or kind != CLAIM
            or not claim.is_bound
            or claim.is_terminating
            or claim.phase == "Lost"
        ):
            parts.append((kind, pod.namespace, name, pod.uid))
        else:
            zones = tuple(pair for pair in sorted(volume.labels.items()) if pair[0] in TOPOLOGY_KEYS)
            parts.append((volume.node_affinity, zones))
    return tuple(parts)
