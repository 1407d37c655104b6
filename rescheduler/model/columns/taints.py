"""Taints and tolerations, matched against all nodes at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.objects.constraints import Taint, Toleration
from rescheduler.model.objects.node import Node

BANS: Final = ("NoSchedule", "NoExecute")
PREFERENCES: Final = ("PreferNoSchedule",)
CORDON: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
"""What ``spec.unschedulable`` stands for."""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint; Lt and Gt do not count (an alpha feature of Kubernetes)."""
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    return toleration.operator == "Exists" or (toleration.operator in ("", "Equal") and toleration.value == taint.value)


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether any of a pod's tolerations covers one taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


class TaintTable:
    """Which nodes carry which taints; one pass over the distinct taints answers for all nodes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Gather the distinct taints of the nodes."""
        carriers: dict[Taint, list[int]] = {}
        for number, node in enumerate(nodes):
            for taint in node.taints:
                carriers.setdefault(taint, []).append(number)
        self._width = len(nodes)
        self._carriers = {taint: np.array(numbers) for taint, numbers in carriers.items()}
        self._kept: dict[tuple[tuple[Toleration, ...], tuple[str, ...]], IntArray] = {}

    def untolerated(self, tolerations: tuple[Toleration, ...]) -> BoolArray:
        """Nodes with a NoSchedule or NoExecute taint that is not tolerated, bool[N]."""
        return self._count(tolerations, BANS) > 0

    def unwelcome(self, tolerations: tuple[Toleration, ...]) -> IntArray:
        """Number of PreferNoSchedule taints of each node that are not tolerated, int64[N]; do not write to it."""
        return self._count(tolerations, PREFERENCES)

    def _count(self, tolerations: tuple[Toleration, ...], effects: tuple[str, ...]) -> IntArray:
        found = self._kept.get((tolerations, effects))
        if found is None:
            found = np.zeros(self._width, dtype=np.int64)
            for taint, numbers in self._carriers.items():
                if taint.effect in effects and not is_tolerated(taint, tolerations):
                    np.add.at(found, numbers, 1)
            self._kept[tolerations, effects] = found
        return found
