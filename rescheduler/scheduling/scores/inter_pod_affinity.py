"""Nodes near the pods that attract, and far from those that repel, score higher; both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rescheduler.model.columns.affinity_terms import AffinityTerms, Group
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SCORE_POINTS, NodeOrder, PluginSettings, Priority, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.scoring.normalization import between_extremes
from rescheduler.scheduling.scoring.wording import less


@dataclass(frozen=True)
class InterPodAffinity(SchedulerScore):
    """Weights of the pod's own preferred terms and of other pods' terms about it, summed over the node's domains.

    ``hard_weight``: what a required affinity term of another pod counts. ``ignores_wishes_of_others``: preferred
    terms of other pods count only for a pod that has some of its own.
    """

    hard_weight: int = 1
    ignores_wishes_of_others: bool = False
    name = "InterPodAffinity"
    stands_at = SCORE_POINTS
    default_weight = 2
    priorities = (Priority("InterPodAffinityPriority"),)
    node_order = (NodeOrder("podaffinity.weight", "InterPodAffinity", 2),)

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - the same in all
        """InterPodAffinityArgs."""
        weight = fields.integer("hardPodAffinityWeight", 1, 0, 100)
        ignores = fields.boolean("ignorePreferredTermsOfExistingPods", default=False)
        fields.refuse_unread()
        return PluginSettings(cls(weight, ignores))

    def with_hard_affinity(self, weight: int) -> InterPodAffinity:
        """As old forms write it beside the plugins."""
        return replace(self, hard_weight=weight)

    @property
    def setting(self) -> str:
        """What required terms of others count."""
        return f"required affinity counts {self.hard_weight}"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """0 for the least sum and 100 for the largest."""
        groups = self._groups(pod, placement)
        raw = np.zeros(placement.columns.node_count, dtype=np.int64)
        for group in groups:
            if group.weight:
                raw += _sums(group, pod, placement)
        return between_extremes(raw, feasible) if groups else raw

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """What pods that attract and repel add up to, by topology key, between the least and the largest sum."""
        scores = self.score(pod, placement, feasible)
        by_key: dict[str, IntArray] = {}
        for group in self._groups(pod, placement):
            sums = _sums(group, pod, placement)
            by_key[group.topology_key] = by_key[group.topology_key] + sums if group.topology_key in by_key else sums
        if not by_key:
            return [f"no term of this pod, and none of others about it, counts: {scores[node]}" for node in nodes]
        raw: IntArray = np.sum(list(by_key.values()), axis=0, dtype=np.int64)
        among = raw[feasible]
        least, largest = (int(among.min()), int(among.max())) if among.size else (0, 0)
        texts = []
        for node in nodes:
            own = int(raw[node])
            parts = ", ".join(f"{key} {sums[node]:+d}" for key, sums in by_key.items())
            formula = f"least {least} and most {largest} on feasible nodes; 100 x ({own} {less(least)}) / "
            formula += f"({largest} {less(least)})"
            if least == largest:
                formula = "as on all feasible nodes"
            texts.append(f"weights of pods that attract or repel: {parts}; sum {own}, {formula} = {scores[node]}")
        return texts

    def _groups(self, pod: int, placement: Placement) -> list[Group]:
        """Terms that count: the pod's own, and those of others about it."""
        columns = placement.columns
        terms = columns.facts(AffinityTerms)
        label_set = int(columns.label_set_of[pod])
        groups = list(terms.own(pod).preferred)
        if groups or not self.ignores_wishes_of_others:
            groups.extend(terms.preferred.about(label_set))
            groups.extend(held._replace(weight=self.hard_weight) for held in terms.affinity.about(label_set))
        return groups


def _sums(group: Group, pod: int, placement: Placement) -> IntArray:
    """What one term adds on each node."""
    sites = placement.sites(group.pods, without=pod)
    return placement.columns.domains.totals(group.topology_key, sites, group.weight)
