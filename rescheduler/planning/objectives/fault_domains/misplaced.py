"""Pods on nodes that would not admit them now: selector, required node affinity, taints."""

from __future__ import annotations

from copy import copy

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.taints import is_tolerated
from rescheduler.model.objects.constraints import Taint, Toleration
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.part import Blame, ViolationCounter

CONDITIONS = "node.kubernetes.io/"
"""Taints that tell a node's condition (cordoned, not ready): they keep pods off, and say nothing of those there."""


class Misplaced(ViolationCounter):
    """Pods whose node does not match their node selector or required affinity, or has a taint they do not tolerate.

    Taints of effect NoExecute are left to Kubernetes, which evicts by itself. Pods that belong to their node (of a
    DaemonSet, or made by the kubelet) were not placed by a scheduler and are left out.
    """

    def __init__(self, columns: Columns, node_of: IndexArray, is_standing: BoolArray) -> None:
        """``node_of``: int32[P], not kept; ``is_standing``: bool[P], pods that count."""
        self._columns = columns
        self._node_of = node_of.copy()
        self._taints = _carriers(columns)
        self._by_tolerations: dict[tuple[Toleration, ...], BoolArray | None] = {}
        self._by_shape: dict[int, BoolArray | None] = {}
        self._wrong: set[int] = set()
        for shape in range(len(columns.shapes)):
            barred = self._barred(shape)
            if barred is not None:
                self._note(columns.pods_of_shape.members(shape), barred, is_standing)

    @property
    def cost(self) -> int:  # type: ignore[override]
        """See ViolationCounter."""
        return len(self._wrong)

    def change(self, pod: int) -> FloatArray:
        """See ViolationCounter."""
        barred = self._barred(int(self._columns.shape_of[pod]))
        if barred is None or self._belongs(pod):
            return np.zeros(self._columns.node_count)
        return barred.astype(np.float64) - float(barred[self._node_of[pod]])

    def move(self, pod: int, node: int) -> None:
        """See ViolationCounter."""
        barred = self._barred(int(self._columns.shape_of[pod]))
        self._node_of[pod] = node
        self._wrong.discard(pod)
        if barred is not None and barred[node] and not self._belongs(pod):
            self._wrong.add(pod)

    def blame(self) -> Blame:
        """See ViolationCounter."""
        pods = np.array(sorted(self._wrong), dtype=np.int64)
        return Blame(pods, np.ones(len(pods), dtype=np.int64))

    def hopes(self) -> Blame:
        """See ViolationCounter."""
        return self.blame()

    def concerns(self) -> IntArray | None:
        """See ViolationCounter."""
        return None

    def copy(self) -> Misplaced:
        """See ViolationCounter."""
        other = copy(self)
        other._node_of = self._node_of.copy()
        other._wrong = set(self._wrong)
        return other

    def describe(self) -> str:
        """See ViolationCounter."""
        return "nodes that would not admit them now"

    def is_barred(self, pod: int) -> BoolArray:
        """Nodes that would not admit a pod, bool[N]."""
        barred = self._barred(int(self._columns.shape_of[pod]))
        return np.zeros(self._columns.node_count, dtype=np.bool_) if barred is None or self._belongs(pod) else barred

    def _note(self, pods: IntArray, barred: BoolArray, is_standing: BoolArray) -> None:
        pods = pods[is_standing[pods]]
        for pod in pods[barred[self._node_of[pods]]].tolist():
            if not self._belongs(pod):
                self._wrong.add(pod)

    def _belongs(self, pod: int) -> bool:
        return self._columns.cluster.pods[pod].belongs_to_its_node

    def _barred(self, shape: int) -> BoolArray | None:
        if shape not in self._by_shape:
            self._by_shape[shape] = self._find_barred(shape)
        return self._by_shape[shape]

    def _find_barred(self, shape: int) -> BoolArray | None:
        spec = self._columns.shapes[shape]
        barred = self._untolerated(spec.tolerations) if self._taints else None
        required = spec.node_affinity.required if spec.node_affinity else None
        if not spec.node_selector and required is None:
            return barred
        unmatched = ~self._columns.node_table.demanded(spec.node_selector, required)
        return unmatched if barred is None else barred | unmatched

    def _untolerated(self, tolerations: tuple[Toleration, ...]) -> BoolArray | None:
        if tolerations not in self._by_tolerations:
            mask = np.zeros(self._columns.node_count, dtype=np.bool_)
            for taint, nodes in self._taints.items():
                if not is_tolerated(taint, tolerations):
                    mask[nodes] = True
            self._by_tolerations[tolerations] = mask if mask.any() else None
        return self._by_tolerations[tolerations]


def _carriers(columns: Columns) -> dict[Taint, list[int]]:
    found: dict[Taint, list[int]] = {}
    for number, node in enumerate(columns.cluster.nodes):
        for taint in node.taints:
            if taint.effect == "NoSchedule" and not taint.key.startswith(CONDITIONS):
                found.setdefault(taint, []).append(number)
    return found
