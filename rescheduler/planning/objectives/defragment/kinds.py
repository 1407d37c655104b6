"""Movable pods that may arrive on the same nodes and take the same there, found as they are asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation, Seat
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.search.search_state import SAME, SearchState


class MovableKinds:
    """Kinds by number; pods are named by their row among the movable ones.

    ``request``: what one takes, int64[R] each; ``open_to``: bool[N] each, nodes that no filter but that of room
    refuses as pods are placed now; ``is_alone``: at most one of them is sent to a node at a time.
    """

    def __init__(
        self, situation: DefragmentSituation, current: SearchState, banned: Collection[Seat], deadline: Deadline
    ) -> None:
        """Nothing is found yet. ``banned``: seats (row, node) that were refused before.

        After the deadline, pods that look at others are taken to fit nowhere.
        """
        self._situation = situation
        self._current = current
        self._deadline = deadline
        self._banned: defaultdict[int, list[int]] = defaultdict(list)
        for row, node in banned:
            self._banned[row].append(node)
        self._number: dict[Hashable, int] = {}
        self._of_row: dict[int, int] = {}
        self.request: list[IntArray] = []
        self.open_to: list[BoolArray] = []
        self.is_alone: list[bool] = []
        self.namespace: list[int] = []

    def __len__(self) -> int:
        """How many there are so far."""
        return len(self.request)

    def of(self, row: int) -> int:
        """Number of a pod's kind."""
        found = self._of_row.get(row)
        if found is None:
            found = self._of_row[row] = self._find(row)
        return found

    def _find(self, row: int) -> int:
        situation, problem = self._situation, self._situation.problem
        pod = int(problem.movable[row])
        is_entangled = problem.is_entangled(pod)
        request = situation.arriving[:, row]
        barred = self._barred(row)
        key = (
            request.tobytes(),
            problem.static_mask(pod)[0],
            self._tie(pod) if is_entangled else None,
            int(situation.namespace_of[row]),
            barred.tobytes() if barred.any() else b"",
        )
        number = self._number.setdefault(key, len(self.request))
        if number == len(self.request):
            self.request.append(request)
            self.open_to.append(self._open_to(pod, is_entangled=is_entangled) & ~barred)
            self.is_alone.append(is_entangled)
            self.namespace.append(int(situation.namespace_of[row]))
        return number

    def _barred(self, row: int) -> BoolArray:
        """Nodes that refused the pod before, or where it would make an earlier objective worse, bool[N]."""
        barred = np.zeros(self._situation.problem.node_count, dtype=np.bool_)
        barred[self._banned.get(row, [])] = True
        for guard in self._current.guards:
            barred |= guard.change(row) > SAME * max(1.0, abs(guard.cost))
        return barred

    def _tie(self, pod: int) -> Hashable:
        problem = self._situation.problem
        columns = problem.columns
        if columns.cluster.pods[pod].volumes:
            return pod
        origin = int(self._current.placement.node_of[pod]) if problem.entanglement.origin_matters(pod) else None
        return int(columns.shape_of[pod]), int(columns.label_set_of[pod]), origin

    def _open_to(self, pod: int, *, is_entangled: bool) -> BoolArray:
        problem = self._situation.problem
        if not is_entangled:
            return problem.static_mask(pod)[1]
        if self._deadline.is_over():
            return np.zeros(problem.node_count, dtype=np.bool_)
        return ~problem.refused_by_others(pod, self._current.placement)
