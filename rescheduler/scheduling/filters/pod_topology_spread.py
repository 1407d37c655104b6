"""Matching pods must lie evenly over topology domains, within the skew that DoNotSchedule constraints allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import SpreadDomains, SpreadRules, spread_domains
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
        unlabelled = np.zeros(columns.node_count, dtype=np.bool_)
        uneven = np.zeros(columns.node_count, dtype=np.bool_)
        for domains in spread_domains(columns, rules):  # a node gets the reason of the first constraint that it fails
            unlabelled |= (domains.codes == NOWHERE) & ~uneven
            uneven |= ~unlabelled & _is_too_uneven(domains, pod, placement)
        return (Rejection(UNLABELLED, unlabelled, is_resolvable=False), Rejection(UNMATCHED, uneven))


def _is_too_uneven(domains: SpreadDomains, pod: int, placement: Placement) -> BoolArray:
    """Nodes, bool[N], whose domain would exceed the least domain by more than the allowed skew."""
    counts = np.append(domains.counts(placement, without=pod), 0)  # the last is for nodes without a domain
    least, rule = domains.least(counts[:-1]), domains.rule
    uneven: BoolArray = (counts + rule.own_weight - least > rule.max_skew)[domains.codes]
    return uneven
