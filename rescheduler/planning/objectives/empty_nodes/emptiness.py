"""How much the empty nodes of a placement are worth, and what a single move changes about that."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


class Emptiness(ObjectiveState):
    """Cost: less the price of every selected node that no pod keeps in use."""

    def __init__(self, problem: Problem, price: FloatArray, is_selected: BoolArray | None = None) -> None:
        """``price``: float64[N]; ``is_selected``: bool[N], nodes that count (None: all that can be used)."""
        columns = problem.columns
        pods, nodes = columns.cluster.pods, columns.cluster.nodes
        start = problem.start.node_of
        counts = (start != NOWHERE) & ~np.fromiter((pod.belongs_to_its_node for pod in pods), np.bool_, len(pods))
        is_usable = np.fromiter((not node.is_virtual and node.problem is None for node in nodes), np.bool_, len(nodes))
        self.price: FloatArray = np.where(is_usable if is_selected is None else is_usable & is_selected, price, 0.0)
        self.pods_on: IntArray = np.bincount(start[counts], minlength=columns.node_count).astype(np.int64)
        self.node_of: IntArray = problem.origin.astype(np.int64)
        self._counts: BoolArray = counts[problem.movable]
        self.cost = -float(self.price[self.pods_on == 0].sum())

    def change(self, row: int) -> FloatArray:
        """See ``ObjectiveState``."""
        here = self.node_of[row]
        change = np.zeros(len(self.price))
        if self._counts[row]:
            change += np.where(self.pods_on == 0, self.price, 0.0)
            change -= self.price[here] if self.pods_on[here] == 1 else 0.0
            change[here] = 0.0
        return change

    def promising(self) -> IntArray:
        """Pods of the nodes with the fewest pods for their price first."""
        here = self.node_of
        share = self.pods_on[here] / np.maximum(self.price[here], 1e-9)
        order: IntArray = np.argsort(share, kind="stable")
        return order[self._counts[order] & (self.price[here[order]] > 0)]

    def move(self, row: int, node: int) -> None:
        """See ``ObjectiveState``."""
        self.cost += float(self.change(row)[node])
        if self._counts[row]:
            self.pods_on[self.node_of[row]] -= 1
            self.pods_on[node] += 1
        self.node_of[row] = node
