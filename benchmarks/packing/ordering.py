"""An order of moves in which each finds its room free; where moves wait for each other in a ring, one pod is parked."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage


def ordered_moves(drainage: Drainage, node_of: IntArray) -> list[tuple[int, int]] | None:
    """(pod, node) one after another; a parked pod appears twice. None where no third node can break a ring."""
    return _Order(drainage, node_of).find()


class _Order:
    """Moves still to be made, by destination."""

    def __init__(self, drainage: Drainage, node_of: IntArray) -> None:
        self.drainage = drainage
        self.goal = node_of
        self.at = drainage.home.copy()
        self.free = drainage.capacity.copy()
        np.subtract.at(self.free, self.at, drainage.request)
        self.waiting: dict[int, list[int]] = defaultdict(list)
        for pod in np.flatnonzero(node_of != self.at).tolist():
            self.waiting[int(node_of[pod])].append(pod)
        self.moves: list[tuple[int, int]] = []

    def find(self) -> list[tuple[int, int]] | None:
        """Move whatever can be moved; park a pod when nothing can."""
        changed = sorted(self.waiting)
        while self.waiting:
            if changed:
                changed = self._arrivals(changed)
            else:
                freed = self._park()
                if freed is None:
                    return None
                changed = [freed]
        return self.moves

    def _arrivals(self, nodes: list[int]) -> list[int]:
        """Move pods to these nodes as far as they have room; the nodes that gained room by that."""
        gained: set[int] = set()
        for node in nodes:
            still = [pod for pod in self.waiting.pop(node, ()) if not self._arrive(pod, node, gained)]
            if still:
                self.waiting[node] = still
        return sorted(node for node in gained if node in self.waiting)

    def _arrive(self, pod: int, node: int, gained: set[int]) -> bool:
        if (self.free[node] < self.drainage.request[pod]).any():
            return False
        gained.add(int(self.at[pod]))
        self._move(pod, node)
        return True

    def _move(self, pod: int, node: int) -> None:
        self.free[self.at[pod]] += self.drainage.request[pod]
        self.free[node] -= self.drainage.request[pod]
        self.at[pod] = node
        self.moves.append((pod, node))

    def _park(self) -> int | None:
        """Take a pod that waits off a node that others wait for, the smallest that is enough; the node it left."""
        leaving = [
            (pod, int(self.at[pod]))
            for pods in self.waiting.values()
            for pod in pods
            if int(self.at[pod]) in self.waiting
        ]
        leaving.sort(key=lambda item: (not self._lets_in(*item), int(self.drainage.request[item[0]].sum()), item))
        for pod, node in leaving:
            place = self._parking_place(pod, node)
            if place is not None:
                self._move(pod, place)
                return node
        return None

    def _lets_in(self, pod: int, node: int) -> bool:
        room = self.free[node] + self.drainage.request[pod]
        return any(bool((self.drainage.request[other] <= room).all()) for other in self.waiting[node])

    def _parking_place(self, pod: int, node: int) -> int | None:
        """The node with the most spare room that nobody waits for, else any that has room."""
        request = self.drainage.request[pod]
        fits = self.drainage.open_to[self.drainage.class_of[pod]] & (self.free >= request).all(axis=1)
        fits[node] = False
        fits[int(self.goal[pod])] = False
        places = np.flatnonzero(fits)
        if not places.size:
            return None
        is_wanted = np.array([place in self.waiting for place in places.tolist()])
        spare = (self.free[places] - request).min(axis=1)
        return int(places[np.lexsort((-spare, is_wanted))[0]])
