"""Nodes that match more of the pod's preferred node terms and of the profile's own, by weight, score higher."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.constraints import PreferredNodeTerm
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores.node_affinity import PreferredNodes
from rescheduler.plugins.scores.normalization import by_largest


@dataclass(frozen=True)
class AddedNodeAffinity(Score):
    """NodeAffinity of a profile whose ``addedAffinity`` has preferred terms."""

    added: tuple[PreferredNodeTerm, ...]
    name = "NodeAffinity"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Share of the largest sum of weights of matching terms."""
        columns = placement.columns
        affinity = columns.shapes[columns.shape_of[pod]].node_affinity
        terms = (*self.added, *(affinity.preferred if affinity else ()))
        if not terms:
            return np.zeros(columns.node_count, dtype=np.int64)
        return by_largest(columns.facts(PreferredNodes).of(terms), feasible)
