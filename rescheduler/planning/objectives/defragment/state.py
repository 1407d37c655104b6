"""What the objective Defragment thinks of a placement: the less the shapes fit, the higher the cost."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.situation import arriving_and_held
from rescheduler.planning.objectives.defragment.wanted_shapes import WantedShapes
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


class DefragmentState(ObjectiveState):
    """Cost: the weighted number of pods of the wanted shapes that fit, negated."""

    def __init__(self, problem: Problem, shapes: WantedShapes) -> None:
        """Begin with the start of the problem."""
        self._problem = problem
        self._shapes = shapes
        self._arriving, self._held = arriving_and_held(problem)
        self._free = problem.free.copy()
        self._node_of = problem.origin.astype(np.int64)
        self._worth = shapes.worth(self._free)
        self.cost = -float(self._worth.sum())

    def change(self, row: int) -> FloatArray:
        """By how much fewer shapes fit with the pod on each node, float64[N]; 0 where it is."""
        here = int(self._node_of[row])
        after = self._shapes.worth(self._free - self._arriving[:, [row]])
        change: FloatArray = self._worth - after - self._gain_of_leaving(row, here)
        change[here] = 0.0
        return change

    def promising(self) -> IntArray:
        """Pods whose departure alone lets more shapes fit, those first that let the most."""
        free = self._free[:, self._node_of] + self._held  # of the few that moved, what they held before
        gain = self._shapes.worth(free, self._node_of) - self._worth[self._node_of]
        order = np.argsort(-gain, kind="stable")
        found: IntArray = order[gain[order] > 0]
        return found

    def move(self, row: int, node: int) -> None:
        """Take a pod to a node."""
        here = int(self._node_of[row])
        self._free[:, here] += self._holding(row, here)
        self._free[:, node] -= self._holding(row, node)
        self._node_of[row] = node
        for place in (here, node):
            worth = float(self._shapes.worth(self._free[:, [place]], np.array([place]))[0])
            self.cost -= worth - float(self._worth[place])
            self._worth[place] = worth

    def _gain_of_leaving(self, row: int, here: int) -> float:
        free = self._free[:, [here]] + self._holding(row, here)[:, None]
        return float(self._shapes.worth(free, np.array([here]))[0] - self._worth[here])

    def _holding(self, row: int, node: int) -> IntArray:
        """What a pod holds on a node: on its first one, what was read there."""
        amounts = self._held if node == self._problem.origin[row] else self._arriving
        found: IntArray = amounts[:, row]
        return found
