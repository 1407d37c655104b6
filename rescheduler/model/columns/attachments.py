"""CSI volumes on nodes, for the limits on how many a node can attach."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IndexArray, IntArray
from rescheduler.model.columns.volumes import PodClaims
from rescheduler.model.objects.pod import Pod

if TYPE_CHECKING:
    from rescheduler.model.columns.columns import Columns
    from rescheduler.model.columns.placement import Placement


Handle: TypeAlias = tuple[str, str]
"""A CSI driver and its name for a volume."""


class Sites(NamedTuple):
    """Node and volume number of each distinct attachment."""

    nodes: IntArray
    volumes: IntArray


class AttachedVolumes:
    """CSI volumes that count against attach limits: those of pods, and attachments that no pod explains."""

    def __init__(self, columns: Columns) -> None:
        """Number the volumes of drivers that any node limits."""
        self._columns = columns
        self.limits = _limits(columns)
        self._numbers: dict[Handle, int] = {}
        self._of_pod: dict[int, tuple[Handle, ...]] = {}
        if self.limits:
            self._of_pod = {
                number: handles for number, pod in enumerate(columns.cluster.pods) if (handles := self._handles(pod))
            }
        pairs = sorted({(pod, self._number(h)) for pod, handles in self._of_pod.items() for h in handles})
        attachments = sorted(self._attachments())
        self._pods = np.array([pod for pod, _ in pairs], dtype=np.int64)
        self._volumes = np.array([volume for _, volume in pairs], dtype=np.int64)
        self._width = max(len(self._numbers), 1)
        self._attached = np.array([node * self._width + volume for node, volume in attachments], dtype=np.int64)
        explained = self._keys(columns.initial_node_of[self._pods], self._volumes)
        self._explained = self._attached[np.isin(self._attached, explained)]

    def of(self, pod: int) -> tuple[Handle, ...]:
        """Volumes of limited drivers that a pod needs."""
        return self._of_pod.get(pod, ())

    def on_nodes(self, placement: Placement, without: int) -> tuple[Sites, Sites]:
        """What other pods hold, and all that is attached besides (``without``: the pod that does not count).

        An attachment that the snapshot explains by a pod goes when that pod does.
        """
        others = self._pods != without
        pods, volumes = self._pods[others], self._volumes[others]
        placed = self._keys(placement.node_of[pods], volumes), self._keys(placement.leaving[pods], volumes)
        held = np.unique(np.concatenate(placed))
        gone = np.setdiff1d(self._explained, held)
        unexplained = np.setdiff1d(np.setdiff1d(self._attached, gone), held)
        return self._sites(held), self._sites(unexplained)

    def numbers(self, driver: str) -> IntArray:
        """Numbers of one driver's volumes."""
        return np.array([number for (owner, _), number in self._numbers.items() if owner == driver], dtype=np.int64)

    def number_of(self, handle: Handle) -> int:
        """Number of one volume."""
        return self._numbers[handle]

    def _sites(self, keys: IntArray) -> Sites:
        return Sites(keys // self._width, keys % self._width)

    def _number(self, handle: Handle) -> int:
        return self._numbers.setdefault(handle, len(self._numbers))

    def _keys(self, nodes: IndexArray, volumes: IntArray) -> IntArray:
        placed = nodes != NOWHERE
        keys: IntArray = nodes[placed].astype(np.int64) * self._width + volumes[placed]
        return keys

    def _handles(self, pod: Pod) -> tuple[Handle, ...]:
        found = []
        for _, name, claim in self._columns.facts(PodClaims).of(pod):
            if claim is not None:
                volume = self._columns.cluster.volume_by_name.get(claim.volume_name)
                storage_class = self._columns.cluster.storage_class_by_name.get(claim.storage_class)
                if volume is not None:
                    found.append((volume.driver, volume.handle))
                elif storage_class is not None:  # not provisioned yet: it will be one more of its driver's
                    found.append((storage_class.provisioner, f"{pod.namespace}/{name}"))
        return tuple(handle for handle in dict.fromkeys(found) if handle[0] in self.limits)

    def _attachments(self) -> set[tuple[int, int]]:
        columns = self._columns
        found = set()
        for attachment in columns.cluster.attachments:
            volume = columns.cluster.volume_by_name.get(attachment.volume_name)
            node = columns.node_index.get(attachment.node_name)
            if volume is not None and node is not None and volume.driver in self.limits:
                found.add((node, self._number((volume.driver, volume.handle))))
        return found


def _limits(columns: Columns) -> dict[str, IntArray]:
    """How many volumes of each driver a node takes, int64[N]; -1 for no limit."""
    found: dict[str, IntArray] = {}
    for csi_node in columns.cluster.csi_nodes:
        node = columns.node_index.get(csi_node.name)
        for driver, count in csi_node.drivers:
            if node is not None and count is not None:
                limit = found.setdefault(driver, np.full(columns.node_count, -1, dtype=np.int64))
                limit[node] = count
    return found
