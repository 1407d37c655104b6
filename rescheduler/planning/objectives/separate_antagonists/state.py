"""What the objective SeparateAntagonists thinks of a placement: pairs of antagonists on one node."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.separate_antagonists.antagonists import Antagonists
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictCounts
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


class SeparationState(ObjectiveState):
    """Pairs of antagonists that share a node; begins at the start of the problem."""

    def __init__(self, problem: Problem, antagonists: Antagonists) -> None:
        """Count the pairs; O(pods + classes * nodes)."""
        self._movable = problem.movable
        codes = np.arange(problem.node_count, dtype=np.int32)
        self.conflict_counts = ConflictCounts(antagonists.conflicts, problem.start.node_of, codes)
        self.cost = float(self.conflict_counts.pairs)

    def change(self, row: int) -> FloatArray:
        """See ObjectiveState."""
        return self.conflict_counts.change(int(self._movable[row]))

    def promising(self) -> IntArray:
        """Pods beside antagonists, those with the most first."""
        here = self.conflict_counts.here[self._movable]
        rows = np.flatnonzero(here)
        return rows[np.argsort(-here[rows], kind="stable")]

    def hopes(self) -> FloatArray:
        """At most by how much the cost falls if one pod moves, float64[M]."""
        return self.conflict_counts.here[self._movable].astype(np.float64)

    def move(self, row: int, node: int) -> None:
        """See ObjectiveState."""
        self.conflict_counts.move(int(self._movable[row]), node)
        self.cost = float(self.conflict_counts.pairs)
