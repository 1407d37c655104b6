"""Which pod sits where, as a working copy that trials change and undo.

A pod that moves counts at its destination at once, and at its origin until ``settle`` says that the wave has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns


class Placement:
    """A full map from pod to node, with what is in use on each node.

    ``node_of``: int32[P]; ``leaving``: int32[P], the node a moved pod still holds; ``used``: int64[R, N];
    ``scored_used``: int64[2, N], cpu and memory with kube-scheduler's non-zero defaults.
    """

    def __init__(self, columns: Columns) -> None:
        """Begin with the placement of the snapshot."""
        self.columns = columns
        self.node_of: IndexArray = columns.initial_node_of.copy()
        self.leaving: IndexArray = np.full(columns.pod_count, NOWHERE, dtype=np.int32)
        self.used: IntArray = _initial_use(columns)
        self.scored_used: IntArray = self.used[:2] + _initial_defaults(columns)
        self._leavers = 0
        self._counts: dict[object, tuple[BoolArray, IntArray]] = {}
        self._counted_by: dict[int, list[object]] = {}

    def copy(self) -> Placement:
        """An independent copy; O(P + R*N)."""
        other = object.__new__(Placement)
        other.columns = self.columns
        other.node_of = self.node_of.copy()
        other.leaving = self.leaving.copy()
        other.used = self.used.copy()
        other.scored_used = self.scored_used.copy()
        other._leavers = self._leavers
        other._counts = {key: (mask, counts.copy()) for key, (mask, counts) in self._counts.items()}
        other._counted_by = {number: list(keys) for number, keys in self._counted_by.items()}
        return other

    def assume(self, pod: int, node: int) -> None:
        """Put a pod that is nowhere on a node."""
        assert self.node_of[pod] == NOWHERE
        self.node_of[pod] = node
        self._hold(pod, node, 1)

    def forget(self, pod: int) -> None:
        """Take a pod off its node (and off the node it leaves)."""
        node = int(self.node_of[pod])
        if node != NOWHERE:
            self._hold(pod, node, -1)
            self.node_of[pod] = NOWHERE
        self._leave(pod)

    def move(self, pod: int, node: int) -> None:
        """Let a pod arrive on a node while it still holds its origin."""
        origin = int(self.node_of[pod])
        assert origin not in (NOWHERE, node)
        assert self.leaving[pod] == NOWHERE
        self.leaving[pod] = origin
        self._leavers += 1
        self.node_of[pod] = node
        self._hold(pod, node, 1)

    def settle(self) -> None:
        """End the wave: moved pods give up their origins."""
        for pod in np.flatnonzero(self.leaving != NOWHERE):
            self._leave(int(pod))

    def replace(self, pods: IntArray, nodes: IntArray) -> None:
        """As ``forget`` and ``assume`` for each of these pods (NOWHERE: only forget); O(R * pods).

        The pods are distinct, do not move, and hold what they request.
        """
        shapes = self.columns.shape_of[pods]
        requests, scored = self.columns.requests[:, shapes], self.columns.scored_requests[:, shapes]
        for sign, places in ((-1, self.node_of[pods]), (1, nodes)):
            here = places != NOWHERE
            for total, amounts in ((self.used, requests), (self.scored_used, scored)):
                for row, values in zip(total, amounts, strict=True):
                    np.add.at(row, places[here], sign * values[here])
            for label_sets, counts in self._counts.values():
                np.add.at(counts, places[here & label_sets[self.columns.label_set_of[pods]]], sign)
        self.node_of[pods] = nodes

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

    def sites(self, pods: IntArray, without: int = NOWHERE) -> IndexArray:
        """Nodes on which these pods stand: one entry for each pod and place, so two for a pod that moves.

        ``without``: a pod that does not count, the one whose place is sought.
        """
        nodes: IndexArray = self.node_of[pods]
        if self._leavers:
            pods = np.concatenate((pods, pods))
            nodes = np.concatenate((nodes, self.leaving[pods[: len(nodes)]]))
        is_here = nodes != NOWHERE
        if without != NOWHERE:
            is_here &= pods != without
        found: IndexArray = nodes[is_here]
        return found

    def tally(self, pods: IntArray, without: int = NOWHERE) -> IntArray:
        """Number of these pods on each node, int64[N]; as ``sites``."""
        return np.bincount(self.sites(pods, without), minlength=self.columns.node_count)

    def held_at(self, pod: int, node: int) -> IntArray:
        """What the pod holds there, int64[R]: on the node of the snapshot, what was read; elsewhere, its requests."""
        if node == self.columns.initial_node_of[pod]:
            return self.columns.held(pod)
        return self.columns.requests[:, self.columns.shape_of[pod]]

    def scored_at(self, pod: int, node: int) -> IntArray:
        """As ``held_at``, with the non-zero defaults for cpu and memory, int64[2]."""
        shape = self.columns.shape_of[pod]
        defaults = self.columns.scored_requests[:, shape] - self.columns.requests[:2, shape]
        return self.held_at(pod, node)[:2] + defaults

    def places(self, pod: int) -> tuple[int, ...]:
        """Nodes on which the pod itself stands: none, one, or two while it moves."""
        return tuple(int(node) for node in (self.node_of[pod], self.leaving[pod]) if node != NOWHERE)

    def _count_afresh(self, label_sets: BoolArray) -> IntArray:
        selected = label_sets[self.columns.label_set_of]
        width = self.columns.node_count
        here = self.node_of[selected & (self.node_of != NOWHERE)]
        there = self.leaving[selected & (self.leaving != NOWHERE)]
        return np.bincount(here, minlength=width) + np.bincount(there, minlength=width)

    def _leave(self, pod: int) -> None:
        origin = int(self.leaving[pod])
        if origin != NOWHERE:
            self._hold(pod, origin, -1)
            self.leaving[pod] = NOWHERE
            self._leavers -= 1

    def _hold(self, pod: int, node: int, sign: int) -> None:
        columns = self.columns
        shape = columns.shape_of[pod]
        if node == columns.initial_node_of[pod] and columns.cluster.pods[pod].held is not None:
            held, scored = self.held_at(pod, node), self.scored_at(pod, node)
        else:  # nearly all: plans of tens of thousands of moves spend much of their time here
            held, scored = columns.requests[:, shape], columns.scored_requests[:, shape]
        if sign > 0:
            self.used[:, node] += held
            self.scored_used[:, node] += scored
        else:
            self.used[:, node] -= held
            self.scored_used[:, node] -= scored
        for key in self._counted_by.get(int(self.columns.label_set_of[pod]), ()):
            self._counts[key][1][node] += sign


def _initial_use(columns: Columns) -> IntArray:
    """What each node's pods hold in the snapshot, int64[R, N]."""
    used = np.zeros_like(columns.allocatable)
    placed = columns.initial_node_of != NOWHERE
    nodes, shapes = columns.initial_node_of[placed], columns.shape_of[placed]
    for row in range(len(columns.resources)):
        np.add.at(used[row], nodes, columns.requests[row, shapes])
    resized = (number for number, pod in enumerate(columns.cluster.pods) if pod.held is not None)
    for pod in resized:
        node = columns.initial_node_of[pod]
        if node != NOWHERE:
            used[:, node] += columns.held(pod) - columns.requests[:, columns.shape_of[pod]]
    return used


def _initial_defaults(columns: Columns) -> IntArray:
    """What the non-zero defaults add for each node's pods in the snapshot, int64[2, N]."""
    added = np.zeros((2, columns.node_count), dtype=np.int64)
    placed = columns.initial_node_of != NOWHERE
    nodes, shapes = columns.initial_node_of[placed], columns.shape_of[placed]
    for row in range(2):
        np.add.at(added[row], nodes, (columns.scored_requests - columns.requests[:2])[row, shapes])
    return added


# How a placement differs from the snapshot it began with: the pods that came to and went from each node.


class Changes(NamedTuple):
    """Pods and nodes as index arrays: ``left`` pods went from their nodes of the snapshot, ``arrived`` came to others.

    A pod that still leaves its node has not left it; a pod without a place in the snapshot may have arrived.
    """

    left: IntArray
    left_nodes: IntArray
    arrived: IntArray
    arrived_nodes: IntArray


def changes(placement: Placement, without: int = NOWHERE) -> Changes:
    """Compare a placement to its snapshot; the pod ``without`` counts as being nowhere now."""
    columns = placement.columns
    initial, here, leaving = columns.initial_node_of, placement.node_of, placement.leaving
    differing = (here != initial) | (leaving != NOWHERE)
    if without != NOWHERE:
        differing[without] = True
    pods = np.flatnonzero(differing)
    origin, now, former = initial[pods], here[pods], leaving[pods]
    is_own = pods == without
    has_left = (origin != NOWHERE) & (is_own | ((origin != now) & (origin != former)))
    is_new = (now != NOWHERE) & (now != origin) & ~is_own
    is_new_former = (former != NOWHERE) & (former != origin) & ~is_own
    return Changes(
        left=pods[has_left],
        left_nodes=origin[has_left].astype(np.int64),
        arrived=np.concatenate((pods[is_new], pods[is_new_former])),
        arrived_nodes=np.concatenate((now[is_new], former[is_new_former])).astype(np.int64),
    )


# Sums over the pods of each node of whatever their shapes say, kept up to date with a placement.


def placed_totals(placement: Placement, demand: Callable[[Columns], IntArray], without: int = NOWHERE) -> IntArray:
    """Sums over the pods on each node, int64[K, N], of what ``demand`` says of their shapes, int64[K, S]."""
    columns = placement.columns
    by_shape = columns.facts(demand)
    total = columns.facts(InitialTotals(demand)).copy()
    changed = changes(placement, without)
    _add(total, changed.left_nodes, -by_shape[:, columns.shape_of[changed.left]])
    _add(total, changed.arrived_nodes, by_shape[:, columns.shape_of[changed.arrived]])
    return total


@dataclass(frozen=True)
class InitialTotals:
    """Sums for the placement of the snapshot, kept as a fact of columns."""

    demand: Callable[[Columns], IntArray]

    def __call__(self, columns: Columns) -> IntArray:
        """Sums, int64[K, N]."""
        by_shape = columns.facts(self.demand)
        placed = np.flatnonzero(columns.initial_node_of != NOWHERE)
        total = np.zeros((len(by_shape), columns.node_count), dtype=np.int64)
        _add(total, columns.initial_node_of[placed], by_shape[:, columns.shape_of[placed]])
        return total


def _add(total: IntArray, nodes: IntArray | IndexArray, amounts: IntArray) -> None:
    for row, values in zip(total, amounts, strict=True):
        np.add.at(row, nodes, values)
