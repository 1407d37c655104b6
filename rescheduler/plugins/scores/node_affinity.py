"""Nodes that match more of the pod's preferred node terms, by weight, score higher."""

from __future__ import annotations

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, Columns, IntArray
from rescheduler.model.constraints import PreferredNodeTerm
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores.normalization import by_largest


class NodeAffinity(Score):
    """All nodes score 0 for a pod without preferred terms."""

    name = "NodeAffinity"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Share of the largest sum of weights of matching terms."""
        columns = placement.columns
        affinity = columns.shapes[columns.shape_of[pod]].node_affinity
        if affinity is None or not affinity.preferred:
            return np.zeros(columns.node_count, dtype=np.int64)
        return by_largest(columns.facts(PreferredNodes).of(affinity.preferred), feasible)


class PreferredNodes:
    """Sums of weights of matching preferred terms, kept by value."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is matched before it is asked for."""
        self._columns = columns
        self._kept: dict[tuple[PreferredNodeTerm, ...], IntArray] = {}

    def of(self, preferred: tuple[PreferredNodeTerm, ...]) -> IntArray:
        """Sum of weights for each node, int64[N]; an empty term matches nothing."""
        found = self._kept.get(preferred)
        if found is None:
            found = np.zeros(self._columns.node_count, dtype=np.int64)
            for wish in preferred:
                found += wish.weight * self._columns.node_table.matching_term(wish.term)
            self._kept[preferred] = found
        return found
