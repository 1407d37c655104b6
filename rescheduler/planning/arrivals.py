"""May this pod arrive there now? The filters' answer, by arithmetic where room is all that counts."""

from __future__ import annotations

from rescheduler.model.arrays import BoolArray
from rescheduler.model.placement import Placement
from rescheduler.planning.fitting import fits
from rescheduler.planning.problem import Problem


class Arrivals:
    """A working placement with the questions that planning asks of it."""

    def __init__(self, problem: Problem, placement: Placement | None = None, *, ignores_room: bool = False) -> None:
        """Begin with a copy of ``placement`` (None: the start). ``ignores_room``: ask the other filters only."""
        self.problem = problem
        self.ignores_room = ignores_room
        self.placement = (problem.start if placement is None else placement).copy()

    def copy(self) -> Arrivals:
        """An independent copy."""
        return Arrivals(self.problem, self.placement, ignores_room=self.ignores_room)

    def open_nodes(self, pod: int) -> BoolArray:
        """Nodes on which the pod may arrive now, bool[N]; its own present node is judged as if it had left."""
        if self.ignores_room:
            return ~self.problem.refused_by_others(pod, self.placement)
        if self.problem.is_entangled(pod):
            return self.problem.prediction.feasible(pod, self.placement)
        room = self.placement.free()
        for node in self.placement.places(pod):  # its own copies do not stand in its way
            room[:, node] += self.placement.held_at(pod, node)
        return self.problem.static_mask(pod)[1] & fits(self.problem.request_of(pod), room)

    def can_arrive(self, pod: int, node: int) -> bool:
        """Whether the pod may arrive on one node now."""
        if self.ignores_room:
            return bool(self.open_nodes(pod)[node])
        if self.problem.is_entangled(pod):
            if not self.problem.meetings.knows(pod):
                return bool(self.open_nodes(pod)[node])
            return self.has_room(pod, node) and self.problem.meetings.allow(pod, node, self.placement)
        return self.has_room(pod, node)

    def has_room(self, pod: int, node: int) -> bool:
        """Whether one node is open to the pod and has room for it now, where other pods are apart."""
        if not self.problem.static_mask(pod)[1][node]:
            return False
        request = self.problem.request_of(pod)
        placement = self.placement
        room = placement.columns.allocatable[:, node] - placement.used[:, node]
        if node in placement.places(pod):
            room = room + placement.held_at(pod, node)
        return bool(((request <= room) | (request == 0)).all())
