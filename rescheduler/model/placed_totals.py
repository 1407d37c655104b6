"""Sums over the pods of each node of whatever their shapes say, kept up to date with a placement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rescheduler.model.arrays import NOWHERE, IndexArray, IntArray
from rescheduler.model.changes import changes
from rescheduler.model.columns import Columns
from rescheduler.model.placement import Placement


def placed_totals(placement: Placement, demand: Callable[[Columns], IntArray], without: int = NOWHERE) -> IntArray:
    """Sums over the pods on each node, int64[K, N], of what ``demand`` says of their shapes, int64[K, S]."""
    columns = placement.columns
    by_shape = columns.facts(demand)
    total = columns.facts(InitialTotals(demand)).copy()
    changed = changes(placement, without)
    _add(total, changed.left_nodes, -by_shape[:, columns.shape_of[changed.left]])
    _add(total, changed.arrived_nodes, by_shape[:, columns.shape_of[changed.arrived]])
    return total


@dataclass(frozen=True)
class InitialTotals:
    """Sums for the placement of the snapshot, kept as a fact of columns."""

    demand: Callable[[Columns], IntArray]

    def __call__(self, columns: Columns) -> IntArray:
        """Sums, int64[K, N]."""
        by_shape = columns.facts(self.demand)
        placed = np.flatnonzero(columns.initial_node_of != NOWHERE)
        total = np.zeros((len(by_shape), columns.node_count), dtype=np.int64)
        _add(total, columns.initial_node_of[placed], by_shape[:, columns.shape_of[placed]])
        return total


def _add(total: IntArray, nodes: IntArray | IndexArray, amounts: IntArray) -> None:
    for row, values in zip(total, amounts, strict=True):
        np.add.at(row, nodes, values)
