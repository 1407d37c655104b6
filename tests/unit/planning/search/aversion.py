"""A plain objective: each pod costs what its node costs, and perhaps more where many are together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


class Aversion(ObjectiveState):
    """``costs``: what one pod costs on each node, by node name (others 0)."""

    def __init__(self, problem: Problem, costs: Mapping[str, float]) -> None:
        """Begin at the start of the problem."""
        nodes = problem.columns.cluster.nodes
        self.of_node: FloatArray = np.array([costs.get(node.name, 0.0) for node in nodes])
        self.node_of: IntArray = problem.origin.astype(np.int64)
        self.cost = float(self.of_node[self.node_of].sum())

    def change(self, row: int) -> FloatArray:
        """Each node's cost less that of the present one."""
        return np.asarray(self.of_node - self.of_node[self.node_of[row]])

    def promising(self) -> IntArray:
        """Pods on dear nodes first."""
        return np.argsort(-self.of_node[self.node_of], kind="stable")

    def move(self, row: int, node: int) -> None:
        """Take a pod to a node."""
        self.node_of[row] = node
        self.cost = float(self.of_node[self.node_of].sum())
