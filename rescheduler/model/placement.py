"""Which pod sits where, as a working copy that trials change and undo.

A pod that moves counts at its destination at once, and at its origin until ``settle`` says that the wave has ended.
"""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns import NOWHERE, BoolArray, Columns, IndexArray, IntArray


class Placement:
    """A full map from pod to node, with what is in use on each node.

    ``node_of``: int32[P]; ``leaving``: int32[P], the node a moved pod still holds; ``used``: int64[R, N].
    """

    def __init__(self, columns: Columns) -> None:
        """Begin with the placement of the snapshot."""
        self.columns = columns
        self.node_of: IndexArray = columns.initial_node_of.copy()
        self.leaving: IndexArray = np.full(columns.pod_count, NOWHERE, dtype=np.int32)
        self.used: IntArray = _initial_use(columns)
        self._counts: dict[object, tuple[BoolArray, IntArray]] = {}
        self._counted_by: dict[int, list[object]] = {}

    def copy(self) -> Placement:
        """An independent copy; O(P + R*N)."""
        other = object.__new__(Placement)
        other.columns = self.columns
        other.node_of = self.node_of.copy()
        other.leaving = self.leaving.copy()
        other.used = self.used.copy()
        other._counts = {key: (mask, counts.copy()) for key, (mask, counts) in self._counts.items()}
        other._counted_by = {number: list(keys) for number, keys in self._counted_by.items()}
        return other

    def assume(self, pod: int, node: int) -> None:
        """Put a pod that is nowhere on a node."""
        assert self.node_of[pod] == NOWHERE
        self.node_of[pod] = node
        self._hold(pod, node, self.columns.requests[:, self.columns.shape_of[pod]], 1)

    def forget(self, pod: int) -> None:
        """Take a pod off its node (and off the node it leaves)."""
        node = int(self.node_of[pod])
        if node != NOWHERE:
            self._hold(pod, node, self._amounts(pod, node), -1)
            self.node_of[pod] = NOWHERE
        self._leave(pod)

    def move(self, pod: int, node: int) -> None:
        """Let a pod arrive on a node while it still holds its origin."""
        origin = int(self.node_of[pod])
        assert origin not in (NOWHERE, node)
        assert self.leaving[pod] == NOWHERE
        self.leaving[pod] = origin
        self.node_of[pod] = node
        self._hold(pod, node, self.columns.requests[:, self.columns.shape_of[pod]], 1)

    def settle(self) -> None:
        """End the wave: moved pods give up their origins."""
        for pod in np.flatnonzero(self.leaving != NOWHERE):
            self._leave(int(pod))

    def free(self) -> IntArray:
        """Room on each node, int64[R, N]; negative where a node is overcommitted."""
        return self.columns.allocatable - self.used

    def count(self, key: object, label_sets: BoolArray) -> IntArray:
        """Pods on each node, int64[N], whose label set is in ``label_sets`` (bool[L]); kept up to date under ``key``.

        A pod that moves counts at both ends. Callers must not write to the answer.
        """
        found = self._counts.get(key)
        if found is None:
            found = self._counts[key] = (label_sets, self._count_afresh(label_sets))
            for number in np.flatnonzero(label_sets):
                self._counted_by.setdefault(int(number), []).append(key)
        return found[1]

    def _count_afresh(self, label_sets: BoolArray) -> IntArray:
        selected = label_sets[self.columns.label_set_of]
        width = self.columns.node_count
        here = self.node_of[selected & (self.node_of != NOWHERE)]
        there = self.leaving[selected & (self.leaving != NOWHERE)]
        return np.bincount(here, minlength=width) + np.bincount(there, minlength=width)

    def _amounts(self, pod: int, node: int) -> IntArray:
        """What the pod holds there: on the node of the snapshot, what was read; elsewhere, its requests."""
        if node == self.columns.initial_node_of[pod]:
            return self.columns.held(pod)
        return self.columns.requests[:, self.columns.shape_of[pod]]

    def _leave(self, pod: int) -> None:
        origin = int(self.leaving[pod])
        if origin != NOWHERE:
            self._hold(pod, origin, self._amounts(pod, origin), -1)
            self.leaving[pod] = NOWHERE

    def _hold(self, pod: int, node: int, amounts: IntArray, sign: int) -> None:
        self.used[:, node] += sign * amounts
        for key in self._counted_by.get(int(self.columns.label_set_of[pod]), ()):
            self._counts[key][1][node] += sign


def _initial_use(columns: Columns) -> IntArray:
    """What each node's pods hold in the snapshot, int64[R, N]."""
    used = np.zeros_like(columns.allocatable)
    placed = columns.initial_node_of != NOWHERE
    nodes, shapes = columns.initial_node_of[placed], columns.shape_of[placed]
    for row in range(len(columns.resources)):
        np.add.at(used[row], nodes, columns.requests[row, shapes])
    for pod, node in enumerate(columns.initial_node_of):
        if node != NOWHERE and columns.cluster.pods[pod].held is not None:
            used[:, node] += columns.held(pod) - columns.requests[:, columns.shape_of[pod]]
    return used
