"""Matching pods must lie evenly over topology domains, within the skew that DoNotSchedule constraints allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import SpreadRule, SpreadRules
from rescheduler.scheduling.plugin import SchedulerFilter

UNMATCHED = "node(s) didn't match pod topology spread constraints"
UNLABELLED = f"{UNMATCHED} (missing required label)"


class PodTopologySpread(SchedulerFilter):
    """Counts by domain over all nodes, feasible or not, that carry every key and pass the constraint's policies."""

    name = "PodTopologySpread"
    predicates = ("EvenPodsSpread",)
    volcano_switch = "predicate.PodTopologySpreadEnable"
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes without a key, and nodes where the pod would make the spread too uneven."""
        columns = placement.columns
        rules = columns.facts(SpreadRules).own(pod, "DoNotSchedule")
        if not rules:
            return ()
        has_all_keys = carries_keys(columns, rules)
        unlabelled = np.zeros(columns.node_count, dtype=np.bool_)
        uneven = np.zeros(columns.node_count, dtype=np.bool_)
        for rule in rules:  # a node gets the reason of the first constraint that it fails
            codes, _ = columns.domains.of(rule.topology_key)
            unlabelled |= (codes == NOWHERE) & ~uneven
            uneven |= ~unlabelled & _is_too_uneven(rule, has_all_keys & rule.counted_nodes, pod, placement)
        return (Rejection(UNLABELLED, unlabelled, is_resolvable=False), Rejection(UNMATCHED, uneven))


def carries_keys(columns: Columns, rules: Sequence[SpreadRule]) -> BoolArray:
    """Nodes that carry the topology keys of all rules, bool[N]."""
    mask = np.ones(columns.node_count, dtype=np.bool_)
    for rule in rules:
        mask &= columns.domains.of(rule.topology_key)[0] != NOWHERE
    return mask


def _is_too_uneven(rule: SpreadRule, counted: BoolArray, pod: int, placement: Placement) -> BoolArray:
    """Nodes, bool[N], whose domain would exceed the least domain by more than the allowed skew."""
    codes, values = placement.columns.domains.of(rule.topology_key)
    sites = placement.sites(rule.pods, without=pod)
    counts = np.bincount(codes[sites[counted[sites]]], minlength=len(values) + 1)
    is_domain = np.zeros(len(values), dtype=np.bool_)
    is_domain[codes[counted]] = True
    domains = int(is_domain.sum())
    least = int(counts[:-1][is_domain].min()) if domains and domains >= rule.min_domains else 0
    uneven: BoolArray = (counts + rule.own_weight - least > rule.max_skew)[codes]
    return uneven
