"""Which claims a pod uses, and who else uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec.structs import replace

from rescheduler.model.arrays import IntArray
from rescheduler.model.pod import Pod
from rescheduler.model.storage import PersistentVolumeClaim

if TYPE_CHECKING:
    from rescheduler.model.columns import Columns

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
