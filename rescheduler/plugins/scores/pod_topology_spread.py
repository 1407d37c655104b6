"""Nodes in domains with fewer matching pods score higher, by the ScheduleAnyway constraints."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from rescheduler.extension_points import Score
from rescheduler.model.columns import NOWHERE, BoolArray, IntArray
from rescheduler.model.constraints import TopologySpreadConstraint
from rescheduler.model.placement import Placement
from rescheduler.model.spread import HOSTNAME, SYSTEM_DEFAULTS, SpreadRule, SpreadRules
from rescheduler.plugins.scores.normalization import MAX_SCORE


@dataclass(frozen=True)
class PodTopologySpread(Score):
    """The pod's own constraints, or ``defaults`` where it has none at all.

    ``defaults_need_all_keys``: whether nodes that lack a key of the defaults score 0, as they do for a pod's own
    constraints and for defaults that an operator wrote, but not for the built-in ones.
    """

    defaults: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULTS
    defaults_need_all_keys: bool = False
    name = "PodTopologySpread"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Score of each node; 0 for all without constraints, 0 for a node that lacks a needed key."""
        columns = placement.columns
        facts = columns.facts(SpreadRules)
        rules, needs_all_keys = facts.own(pod, "ScheduleAnyway"), True
        if not columns.shapes[columns.shape_of[pod]].topology_spread:
            soft = tuple(rule for rule in self.defaults if rule.when_unsatisfiable == "ScheduleAnyway")
            rules, needs_all_keys = facts.defaults(pod, soft), self.defaults_need_all_keys
        if not rules:
            return np.zeros(columns.node_count, dtype=np.int64)
        has_keys = np.ones(columns.node_count, dtype=np.bool_)
        if needs_all_keys:
            for rule in rules:
                has_keys &= columns.domains.of(rule.topology_key)[0] != NOWHERE
        raw = np.zeros(columns.node_count, dtype=np.float64)
        for rule in rules:
            raw += _weighed_count(rule, has_keys, feasible & has_keys, pod, placement)
        return _normalized(np.floor(raw + 0.5).astype(np.int64), feasible & has_keys) * has_keys


def _weighed_count(
    rule: SpreadRule, has_keys: BoolArray, scored: BoolArray, pod: int, placement: Placement
) -> npt.NDArray[np.float64]:
    """What one constraint adds for each node: matching pods in its domain times a weight, and the allowed skew less 1.

    The weight grows with the number of domains among the scored nodes. Host names count the node's own pods,
    whatever the policies say; other keys count on all nodes that pass them.
    """
    columns = placement.columns
    codes, values = columns.domains.of(rule.topology_key)
    sites = placement.sites(rule.pods, without=pod)
    if rule.topology_key == HOSTNAME:
        domains = int(scored.sum())
        counts = np.bincount(sites, minlength=columns.node_count)
    else:
        # A node without the key is a domain of its own here (an empty value), in the first slot.
        is_domain = np.zeros(len(values) + 1, dtype=np.bool_)
        is_domain[codes[scored] + 1] = True
        domains = int(is_domain.sum())
        counted = sites[(has_keys & rule.counted_nodes)[sites]]
        by_domain = np.bincount(codes[counted] + 1, minlength=len(values) + 1)
        counts = (by_domain * is_domain)[codes + 1]
    added = counts * log(domains + 2) + float(rule.max_skew - 1)
    return np.where(codes == NOWHERE, 0.0, added)


def _normalized(raw: IntArray, scored: BoolArray) -> IntArray:
    among = raw[scored]
    largest = int(among.max(initial=0))
    if largest == 0:
        return np.full_like(raw, MAX_SCORE)
    # Truncated toward zero; nodes that are not scored may lie outside and mean nothing.
    return MAX_SCORE * (largest + int(among.min()) - raw) // largest
