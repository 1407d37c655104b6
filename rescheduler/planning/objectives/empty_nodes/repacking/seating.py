"""Where pods sit while some nodes are being emptied, and how many have left a node that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage


class Seating:
    """Pods by node, with the room that is left; pods of emptied nodes begin without a seat.

    ``node_of``: int64[P], NOWHERE without a seat. ``free``: int64[N, R], -1 everywhere on emptied nodes. ``weight``:
    float64[R], one over what is free in all, so that scarce resources count more.
    """

    def __init__(self, drainage: Drainage, emptied: Sequence[int]) -> None:
        """Take the pods of ``emptied`` off; the others sit at home, if they have one."""
        self.drainage = drainage
        self.is_emptied: BoolArray = np.zeros(drainage.node_count, dtype=np.bool_)
        self.is_emptied[list(emptied)] = True
        self.kept: IntArray = np.flatnonzero(~self.is_emptied)
        self.is_native: BoolArray = (drainage.home != NOWHERE) & ~self.is_emptied[drainage.home]
        self.node_of: IntArray = np.where(self.is_native, drainage.home, NOWHERE)
        self.free: IntArray = drainage.capacity.copy()
        native = np.flatnonzero(self.is_native)
        np.subtract.at(self.free, drainage.home[native], drainage.request[native])
        self.free[self.is_emptied] = -1
        self.weight: FloatArray = 1.0 / np.maximum(1, self.free[self.kept].clip(min=0).sum(axis=0))
        self.pods_of: list[list[int]] = [[] for _ in range(drainage.node_count)]
        for pod in native.tolist():
            self.pods_of[int(drainage.home[pod])].append(pod)

    def seat(self, pod: int, node: int) -> None:
        """Move a pod to a node, or off any (NOWHERE)."""
        before = int(self.node_of[pod])
        request = self.drainage.request[pod]
        if before != NOWHERE:
            self.pods_of[before].remove(pod)
            self.free[before] += request
        self.node_of[pod] = node
        if node != NOWHERE:
            self.pods_of[node].append(pod)
            self.free[node] -= request

    def reopen(self, node: int, capacity: IntArray) -> None:
        """Keep a node that was to be emptied; it has all its room (int64[R]), and nobody sits there yet."""
        self.is_emptied[node] = False
        self.kept = np.flatnonzero(~self.is_emptied)
        self.is_native |= self.drainage.home == node
        self.free[node] = capacity

    def restore(self, seats: Iterable[tuple[int, int]]) -> None:
        """Undo moves given as (pod, node before), in the order in which they were made."""
        original: dict[int, int] = {}
        for pod, node in seats:
            original.setdefault(pod, node)
        for pod in original:
            self.seat(pod, NOWHERE)
        for pod, node in original.items():
            self.seat(pod, node)

    @property
    def unseated(self) -> list[int]:
        """Pods without a seat, the largest first."""
        pods = np.flatnonzero(self.node_of == NOWHERE)
        return [int(pod) for pod in pods[np.argsort(-self.size_of(pods), kind="stable")]]

    @property
    def displaced(self) -> int:
        """Pods that have left a kept node."""
        return int((self.is_native & (self.node_of != self.drainage.home)).sum())

    def size_of(self, pods: IntArray) -> FloatArray:
        """A pod's largest share of what is free."""
        sizes: FloatArray = (self.drainage.request[pods] * self.weight).max(axis=1, initial=0.0)
        return sizes

    def fits(self, pod: int) -> BoolArray:
        """Kept nodes that may take a pod and have the room, bool[N]."""
        open_to = self.drainage.open_to[self.drainage.class_of[pod]]
        found: BoolArray = open_to & (self.free >= self.drainage.request[pod]).all(axis=1) & ~self.is_emptied
        return found


def seat_by_best_fit(seating: Seating) -> None:
    """Seat what has no seat, the largest first, where the least room remains (smallest norm); some may stay without."""
    request = seating.drainage.request
    for pod in seating.unseated:
        fits = np.flatnonzero(seating.fits(pod))
        if fits.size:
            rest = (seating.free[fits] - request[pod]) * seating.weight
            seating.seat(pod, int(fits[np.argmin((rest**2).sum(axis=1))]))
