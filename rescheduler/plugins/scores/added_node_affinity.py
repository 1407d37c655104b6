"""Nodes that match more of the pod's preferred node terms and of the profile's own, by weight, score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rescheduler.extension_points import Score
from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.model.columns import Columns
from rescheduler.model.constraints import PreferredNodeTerm
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores.node_affinity import explain_preferred, preferred_score, preferred_terms


@dataclass(frozen=True)
class AddedNodeAffinity(Score):
    """NodeAffinity of a profile whose ``addedAffinity`` has preferred terms."""

    added: tuple[PreferredNodeTerm, ...]
    name = "NodeAffinity"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Share of the largest sum of weights of matching terms."""
        return preferred_score(self._terms(pod, placement.columns), placement.columns, feasible)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Which terms of profile and pod the node matches, and what their weights are of the largest sum."""
        return explain_preferred(self._terms(pod, placement.columns), nodes, placement.columns, feasible)

    def _terms(self, pod: int, columns: Columns) -> tuple[PreferredNodeTerm, ...]:
        return (*self.added, *preferred_terms(pod, columns))
