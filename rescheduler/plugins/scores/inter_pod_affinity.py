"""Nodes near the pods that attract, and far from those that repel, score higher; both ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.affinity_terms import AffinityTerms
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores.normalization import between_extremes


@dataclass(frozen=True)
class InterPodAffinity(Score):
    """Weights of the pod's own preferred terms and of other pods' terms about it, summed over the node's domains.

    ``hard_weight``: what a required affinity term of another pod counts. ``ignores_wishes_of_others``: preferred
    terms of other pods count only for a pod that has some of its own.
    """

    hard_weight: int = 1
    ignores_wishes_of_others: bool = False
    name = "InterPodAffinity"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """0 for the least sum and 100 for the largest."""
        columns = placement.columns
        terms = columns.facts(AffinityTerms)
        label_set = int(columns.label_set_of[pod])
        groups = list(terms.own(pod).preferred)
        if groups or not self.ignores_wishes_of_others:
            groups.extend(terms.preferred.about(label_set))
            groups.extend(held._replace(weight=self.hard_weight) for held in terms.affinity.about(label_set))
        raw = np.zeros(columns.node_count, dtype=np.int64)
        for group in groups:
            if group.weight:
                sites = placement.sites(group.pods, without=pod)
                raw += columns.domains.totals(group.topology_key, sites, group.weight)
        return between_extremes(raw, feasible) if groups else raw
