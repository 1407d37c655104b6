"""The filters' verdict on related pods for one node alone: separation, host ports, spread. Exact, and much quicker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import NOWHERE, BoolArray, IndexArray
from rescheduler.model.columns import Columns
from rescheduler.model.placement import Placement
from rescheduler.model.spread import SpreadRule
from rescheduler.planning.entanglement import Entanglement


class _Spread(NamedTuple):
    """A rule with what does not change: domain of each node, nodes that count, domains that exist."""

    rule: SpreadRule
    codes: IndexArray
    counted: BoolArray
    is_domain: BoolArray


class Meetings:
    """Verdicts by the relations of one cluster's pods; what a rule means is worked out once."""

    def __init__(self, columns: Columns, entanglement: Entanglement) -> None:
        """Nothing is worked out before it is asked for."""
        self._columns = columns
        self._entanglement = entanglement
        self._spreads: dict[tuple[int, int], tuple[_Spread, ...]] = {}

    def knows(self, pod: int) -> bool:
        """Whether the verdict can be given here: not for pods with volumes, or that others must attract."""
        return not self._columns.cluster.pods[pod].volumes and not self._entanglement.attractors(pod)[0]

    def allow(self, pod: int, node: int, placement: Placement) -> bool:
        """Whether nothing but room can keep the pod off the node; it does not stand in its own way."""
        return self._keeps_apart(pod, node, placement) and all(
            self._is_even(spread, pod, node, placement) for spread in self._spreads_of(pod)
        )

    def _keeps_apart(self, pod: int, node: int, placement: Placement) -> bool:
        for conflict in self._entanglement.conflicts(pod):
            sites = placement.sites(conflict.pods, without=pod)
            if conflict.topology_key is None:
                if (sites == node).any():
                    return False
                continue
            codes, _ = self._columns.domains.of(conflict.topology_key)
            if codes[node] != NOWHERE and (codes[sites] == codes[node]).any():
                return False
        return True

    def _is_even(self, spread: _Spread, pod: int, node: int, placement: Placement) -> bool:
        rule, codes = spread.rule, spread.codes
        if codes[node] == NOWHERE:
            return False
        sites = placement.sites(rule.pods, without=pod)
        counts = np.bincount(codes[sites[spread.counted[sites]]], minlength=len(spread.is_domain))
        domains = int(spread.is_domain.sum())
        least = int(counts[spread.is_domain].min()) if domains and domains >= rule.min_domains else 0
        return bool(counts[codes[node]] + rule.own_weight - least <= rule.max_skew)

    def _spreads_of(self, pod: int) -> tuple[_Spread, ...]:
        key = int(self._columns.shape_of[pod]), int(self._columns.label_set_of[pod])
        found = self._spreads.get(key)
        if found is None:
            found = self._spreads[key] = self._resolve(self._entanglement.spread_rules(pod))
        return found

    def _resolve(self, rules: tuple[SpreadRule, ...]) -> tuple[_Spread, ...]:
        domains = self._columns.domains
        has_all_keys = np.ones(self._columns.node_count, dtype=np.bool_)
        for rule in rules:
            has_all_keys &= domains.of(rule.topology_key)[0] != NOWHERE
        found = []
        for rule in rules:
            codes, values = domains.of(rule.topology_key)
            counted = has_all_keys & rule.counted_nodes
            is_domain = np.zeros(len(values), dtype=np.bool_)
            is_domain[codes[counted]] = True
            found.append(_Spread(rule, codes, counted, is_domain))
        return tuple(found)
