"""Empties nodes one after the other, each pod going where it fits best or first; one that stays may make room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule

_MOST_EJECTIONS_TRIED = 16
_MOST_FAILURES = 400
SingleMove = tuple[int, int, int]  # pod, node before, node after


class NodeByNode:
    """What has been moved so far, in an order in which every move finds its room.

    ``order``: (pod, node) moves; ``emptied``: nodes; ``is_closed``: bool[N], nodes that take nobody.
    """

    def __init__(self, situation: EmptyingSituation, is_closed: BoolArray, *, takes_first: bool = False) -> None:
        """Nothing has moved. ``is_closed``: nodes to be kept free of arrivals until they are opened.

        ``takes_first``: pods go to the first node with room, the simple rule, in half the time.
        """
        self.situation = situation
        self._takes_first = takes_first
        self.problem = situation.problem
        self.is_closed: BoolArray = is_closed.copy()
        self.placement = situation.start.copy()
        self.free: IntArray = self.problem.free.copy()
        self.order: list[tuple[int, int]] = []
        self.emptied: list[int] = []
        self.has_moved: BoolArray = np.zeros(len(self.problem.movable), dtype=np.bool_)
        self._received: IntArray = np.zeros(situation.node_count, dtype=np.int64)
        self._left_node: IntArray = np.zeros(situation.node_count, dtype=np.int64)
        self._left_namespace: Counter[str] = Counter()
        capacity = np.maximum(1, self.problem.columns.allocatable.mean(axis=1))
        self._weight: FloatArray = 1.0 / capacity

    def run(self, nodes: Sequence[int], deadline: Deadline, *, may_eject: bool) -> None:
        """Empty what can be emptied of ``nodes``, in this order; those that cannot are opened to arrivals."""
        failures = 0
        for node in nodes:
            if deadline.is_over() or failures > _MOST_FAILURES:
                return
            if self._received[node] or not self._is_affordable(node):
                continue
            if not self.try_node(node, may_eject=may_eject):
                self.is_closed[node] = False
                failures += 1

    def repeat(self, schedule: WaveSchedule, emptied: Sequence[int]) -> None:
        """Begin with the moves of a schedule, which empties these nodes."""
        self.is_closed[list(emptied)] = True
        self.emptied = list(emptied)
        steps: list[SingleMove] = []
        for wave in schedule.waves:
            for pod, node in wave:
                self._move(self.problem.row_of_movable[pod], node, steps)

    def try_node(self, node: int, *, may_eject: bool) -> bool:
        """Find a place for every pod of a node, the hardest first; nothing is changed where one has none."""
        was_closed = bool(self.is_closed[node])
        self.is_closed[node] = True
        begun = len(self.order)
        steps: list[SingleMove] = []
        rows = [row for row in self.situation.rows_on[node].tolist() if not self.has_moved[row]]
        for position, row in enumerate(self._hardest_first(rows)):
            still_to_go = len(rows) - position
            if not self._seat(row, steps) and not (may_eject and self._seat_by_ejection(row, steps, still_to_go)):
                self._undo(steps, begun)
                self.is_closed[node] = was_closed
                return False
        self.emptied.append(node)
        return True

    def seat_all(self, rows: list[int]) -> bool:
        """Find a place for each of these pods by itself; nothing is changed where one has none."""
        begun = len(self.order)
        steps: list[SingleMove] = []
        for row in self._hardest_first(rows):
            if not self._seat(row, steps):
                self._undo(steps, begun)
                return False
        return True

    def _hardest_first(self, rows: list[int]) -> list[int]:
        problem = self.problem
        size = (problem.requests[:, rows] * self._weight[:, None]).max(axis=0, initial=0.0)
        keys = [
            (not problem.is_entangled(int(problem.movable[row])), -float(s)) for row, s in zip(rows, size, strict=True)
        ]
        return [rows[position] for position in sorted(range(len(rows)), key=lambda p: (keys[p], rows[p]))]

    def _is_affordable(self, node: int) -> bool:
        limits = self.situation.limits
        if len(self.emptied) >= self.situation.most_nodes:
            return False
        if len(self.order) + int(self.situation.pods_on[node]) - int(self._left_node[node]) > limits.in_all:
            return False
        return all(
            self._left_namespace[name] + int(number[node]) <= limits.of(name)
            for name, number in self.situation.namespaces_on.items()
        )

    def _open_to(self, pod: int) -> BoolArray:
        """Nodes that take a pod now, bool[N], its own left out."""
        problem = self.problem
        if problem.is_entangled(pod):
            found = problem.prediction.feasible(pod, self.placement) & ~self.is_closed
        else:
            found = problem.static_mask(pod)[1] & ~self.is_closed
        found[self.placement.node_of[pod]] = False
        return found

    def _seat(self, row: int, steps: list[SingleMove]) -> bool:
        """Send a pod to the open node on which the least room remains, or to the first with room."""
        open_nodes = self._open_to(int(self.problem.movable[row]))
        request = self.problem.requests[:, row]
        asked = request.nonzero()[0].tolist()
        for resource in asked:
            open_nodes &= self.free[resource] >= request[resource]
        first = int(open_nodes.argmax())
        if not open_nodes[first]:
            return False
        self._move(row, first if self._takes_first else self._tightest(open_nodes, request, asked), steps)
        return True

    def _tightest(self, fits: BoolArray, request: IntArray, asked: list[int]) -> int:
        """Of these nodes, bool[N], the one with the least room left by a pod, in squares over resources."""
        nodes = fits.nonzero()[0]
        rest = np.zeros(len(nodes))
        for resource in asked:
            rest += ((self.free[resource, nodes] - request[resource]) * self._weight[resource]) ** 2
        return int(nodes[rest.argmin()])

    def _seat_by_ejection(self, row: int, steps: list[SingleMove], still_to_go: int) -> bool:
        """Move a pod that could have stayed out of the way: one more eviction."""
        pod = int(self.problem.movable[row])
        if len(self.order) + still_to_go >= self.situation.limits.in_all or self.problem.is_entangled(pod):
            return False
        for other in self._in_the_way(row, pod):
            node = int(self.problem.origin[other])
            was_closed = bool(self.is_closed[node])
            self.is_closed[node] = True
            ejected = self._seat(other, steps)
            self.is_closed[node] = was_closed
            if ejected:
                self._move(row, node, steps)
                return True
        return False

    def _in_the_way(self, row: int, pod: int) -> list[int]:
        """Rows of pods without whom their node would take this one, the smallest first."""
        problem = self.problem
        request = problem.requests[:, row]
        asked = np.flatnonzero(request)
        rows = np.flatnonzero(~self.has_moved & self._open_to(pod)[problem.origin])
        missing = request[asked, None] - self.free[np.ix_(asked, problem.origin[rows])]
        rows = rows[(problem.held[np.ix_(asked, rows)] >= missing).all(axis=0)]
        is_smaller = (problem.requests[:, rows] <= request[:, None]).all(axis=0)
        rows = rows[is_smaller & (problem.requests[:, rows] < request[:, None]).any(axis=0)]
        size = (problem.requests[:, rows] * self._weight[:, None]).max(axis=0, initial=0.0)
        first = rows[np.argsort(size, kind="stable")]
        found = []
        for other in first.tolist():
            if not problem.is_entangled(int(problem.movable[other])) and self._may_be_ejected(other):
                found.append(other)
                if len(found) == _MOST_EJECTIONS_TRIED:
                    break
        return found

    def _may_be_ejected(self, row: int) -> bool:
        limits = self.situation.limits
        node = int(self.problem.origin[row])
        name = self.problem.columns.cluster.pods[int(self.problem.movable[row])].namespace
        return bool(self._left_node[node] < limits.of_node[node]) and self._left_namespace[name] < limits.of(name)

    def _move(self, row: int, node: int, steps: list[SingleMove]) -> None:
        problem = self.problem
        pod = int(problem.movable[row])
        origin = int(self.placement.node_of[pod])
        self._shift(row, pod, origin, node)
        self.has_moved[row] = True
        self._left_node[origin] += 1
        self._left_namespace[problem.columns.cluster.pods[pod].namespace] += 1
        self.order.append((pod, node))
        steps.append((row, origin, node))
        self._received[node] += 1

    def _shift(self, row: int, pod: int, origin: int, node: int) -> None:
        problem = self.problem
        self.placement.forget(pod)
        self.placement.assume(pod, node)
        at_home = int(problem.origin[row])
        self.free[:, origin] += problem.held[:, row] if origin == at_home else problem.requests[:, row]
        self.free[:, node] -= problem.held[:, row] if node == at_home else problem.requests[:, row]

    def _undo(self, steps: list[SingleMove], begun: int) -> None:
        for row, origin, node in reversed(steps):
            pod = int(self.problem.movable[row])
            self._shift(row, pod, node, origin)
            self.has_moved[row] = False
            self._left_node[origin] -= 1
            self._left_namespace[self.problem.columns.cluster.pods[pod].namespace] -= 1
            self._received[node] -= 1
        del self.order[begun:]
