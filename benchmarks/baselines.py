"""What one would take instead: the first node that works (the 2015 design), and preemption's choice of node.

Both evict only pods that fit some other node at that moment, and find each of them a new place before it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility


@dataclass(frozen=True)
class BaselineResult:
    """Evictions spent and pending pods placed."""

    evictions: int
    helped: int


class Baseline:
    """State of one greedy run; pods are judged by room and static filters."""

    def __init__(self, prediction: SchedulerPrediction, eligibility: Eligibility) -> None:
        """Begin with the snapshot."""
        self.prediction = prediction
        self.columns = prediction.columns
        placement = Placement(self.columns)
        self.room: IntArray = placement.free()
        self.home = placement.node_of.copy()
        self.pending = eligibility.helpable
        self.movable_on: list[list[int]] = [[] for _ in range(self.columns.node_count)]
        for pod in eligibility.movable:
            if self.home[pod] != NOWHERE:
                self.movable_on[self.home[pod]].append(pod)
        self.evictions = 0
        self.helped = 0

    def request(self, pod: int) -> IntArray:
        """What a pod asks for, int64[R]."""
        return self.columns.requests[:, self.columns.shape_of[pod]]

    def open_nodes(self, pod: int, room: IntArray) -> BoolArray:
        """Nodes that have room for a pod and pass its static filters."""
        request = self.request(pod)
        return self.prediction.static_feasible(pod) & (request[:, None] <= room).all(axis=0)

    def first_node_that_works(self) -> BaselineResult:
        """Nodes in order; on each, pods in order, until the pending pod fits and all of them found another place."""
        for pod in self.pending:
            if not self._place_directly(pod):
                for node in np.flatnonzero(self.prediction.static_feasible(pod)).tolist():
                    victims = self._in_order(pod, node)
                    if victims is not None and self._carry_out(pod, node, victims):
                        break
        return BaselineResult(self.evictions, self.helped)

    def preemption_style(self) -> BaselineResult:
        """The node with the fewest victims, once all that can stay are reprieved; the next if they find no place."""
        for pod in self.pending:
            if not self._place_directly(pod):
                options = []
                for node in np.flatnonzero(self.prediction.static_feasible(pod)).tolist():
                    victims = self._after_reprieve(pod, node)
                    if victims is not None:
                        options.append((len(victims), node, victims))
                any(self._carry_out(pod, node, victims) for _, node, victims in sorted(options))
        return BaselineResult(self.evictions, self.helped)

    def _place_directly(self, pod: int) -> bool:
        nodes = np.flatnonzero(self.open_nodes(pod, self.room))
        if not len(nodes):
            return False
        self.room[:, nodes[0]] -= self.request(pod)
        self.helped += 1
        return True

    def _placeable(self, node: int) -> list[int]:
        found = []
        for pod in self.movable_on[node]:
            nodes = self.open_nodes(pod, self.room)
            if nodes.sum() - nodes[node] > 0:
                found.append(pod)
        return found

    def _could_take(self, pod: int, node: int) -> bool:
        """Whether all movable pods together hold enough: the quick look before the slow one."""
        total = self.room[:, node].copy()
        for other in self.movable_on[node]:
            total += self.request(other)
        return bool((self.request(pod) <= total).all())

    def _in_order(self, pod: int, node: int) -> list[int] | None:
        if not self._could_take(pod, node):
            return None
        room, victims = self.room[:, node].copy(), []
        for other in self._placeable(node):
            if (self.request(pod) <= room).all():
                break
            room += self.request(other)
            victims.append(other)
        return victims if (self.request(pod) <= room).all() else None

    def _after_reprieve(self, pod: int, node: int) -> list[int] | None:
        if not self._could_take(pod, node):
            return None
        candidates = self._placeable(node)
        room = self.room[:, node] - self.request(pod)
        for other in candidates:
            room = room + self.request(other)
        if (room < 0).any():
            return None
        victims = []
        for other in candidates:
            if (self.request(other) <= room).all():
                room = room - self.request(other)
            else:
                victims.append(other)
        return victims

    def _carry_out(self, pod: int, node: int, victims: list[int]) -> bool:
        room = self.room.copy()
        room[:, node] = np.iinfo(np.int64).min // 2  # nobody comes back to the hole
        targets = []
        for victim in victims:
            nodes = np.flatnonzero(self.open_nodes(victim, room))
            if not len(nodes):
                return False
            room[:, nodes[0]] -= self.request(victim)
            targets.append(int(nodes[0]))
        room[:, node] = self.room[:, node] - self.request(pod)
        for victim, target in zip(victims, targets, strict=True):
            room[:, node] += self.request(victim)
            self.movable_on[node].remove(victim)
            self.home[victim] = target
        self.room = room
        self.evictions += len(victims)
        self.helped += 1
        return True
