"""Nodes that match more of the pod's preferred node terms, by weight, score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import PreferredNodeTerm
from rescheduler.scheduling.scoring.normalization import by_largest
from rescheduler.scheduling.scoring.wording import share_of_largest


class NodeAffinity(Score):
    """All nodes score 0 for a pod without preferred terms."""

    name = "NodeAffinity"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Share of the largest sum of weights of matching terms."""
        return preferred_score(preferred_terms(pod, placement.columns), placement.columns, feasible)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Which terms the node matches, and what their weights are of the largest sum."""
        return explain_preferred(preferred_terms(pod, placement.columns), nodes, placement.columns, feasible)


def preferred_terms(pod: int, columns: Columns) -> tuple[PreferredNodeTerm, ...]:
    """Preferred terms of the pod itself."""
    affinity = columns.shapes[columns.shape_of[pod]].node_affinity
    return affinity.preferred if affinity else ()


def preferred_score(terms: tuple[PreferredNodeTerm, ...], columns: Columns, feasible: BoolArray) -> IntArray:
    """Score of each node by these terms, all 0 without terms."""
    if not terms:
        return np.zeros(columns.node_count, dtype=np.int64)
    return by_largest(columns.facts(PreferredNodes).of(terms), feasible)


def explain_preferred(
    terms: tuple[PreferredNodeTerm, ...], nodes: Sequence[int], columns: Columns, feasible: BoolArray
) -> list[str]:
    """The same in words for some nodes."""
    scores = preferred_score(terms, columns, feasible)
    if not terms:
        return [f"no preferred terms: {scores[node]}" for node in nodes]
    sums = columns.facts(PreferredNodes).of(terms)
    largest = int(sums[feasible].max(initial=0))
    if not largest:
        return [f"no feasible node matches any of {len(terms)} preferred terms: {scores[node]}" for node in nodes]
    matches = [(term.weight, columns.node_table.matching_term(term.term)) for term in terms]
    texts = []
    for node in nodes:
        weights = [str(weight) for weight, found in matches if found[node]]
        lead = f"{len(weights)} of {len(terms)} preferred terms match, of weight {' + '.join(weights) or 'none'} = "
        texts.append(lead + share_of_largest(int(sums[node]), largest, int(scores[node])))
    return texts


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


# Nodes that match more of the pod's preferred node terms and of the profile's own, by weight, score higher.


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
