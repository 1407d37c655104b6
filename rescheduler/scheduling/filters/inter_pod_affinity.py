"""Pods must be near to, or far from, the pods that their affinity terms select; both ways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.affinity_terms import AffinityTerms, Group, OwnTerms
from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SchedulerFilter

NOT_NEAR = "node(s) didn't match pod affinity rules"
NOT_FAR = "node(s) didn't match pod anti-affinity rules"
NOT_WELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"


class InterPodAffinity(SchedulerFilter):
    """Required terms only; terminating pods count, pods without a node do not."""

    name = "InterPodAffinity"
    predicates = ("MatchInterPodAffinity",)
    volcano_switch = "predicate.PodAffinityEnable"
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes that the pod's affinity, its anti-affinity, or other pods' anti-affinity forbid, in this order."""
        columns = placement.columns
        terms = columns.facts(AffinityTerms)
        own = terms.own(pod)
        held = terms.anti_affinity.about(int(columns.label_set_of[pod]))
        if not (own.affinity_keys or own.repelled_by or held):
            return ()
        not_near = _not_near(own, pod, placement)
        not_far = _in_reach(own.repelled_by, pod, placement)
        not_welcome = _in_reach(held, pod, placement)
        return (
            Rejection(NOT_NEAR, not_near, is_resolvable=False),
            Rejection(NOT_FAR, not_far & ~not_near),
            Rejection(NOT_WELCOME, not_welcome & ~not_far & ~not_near),
        )


def is_concerned(pod: int, placement: Placement) -> bool:
    """Whether kube-scheduler runs this filter for a pod at all.

    Without required terms of its own, and without a placed pod whose anti-affinity is about it, the filter is left
    out before nominated pods are looked at, and so what these demand does not count.
    """
    columns = placement.columns
    own = columns.facts(AffinityTerms).own(pod)
    spec = columns.shapes[columns.shape_of[pod]]
    if own.affinity_keys or spec.anti_affinity:
        return True
    for group in columns.facts(AffinityTerms).anti_affinity.about(int(columns.label_set_of[pod])):
        sites = placement.sites(group.pods, without=pod)
        if (columns.domains.of(group.topology_key)[0][sites] != NOWHERE).any():
            return True
    return False


def _in_reach(groups: Sequence[Group], pod: int, placement: Placement) -> BoolArray:
    """Nodes, bool[N], that share the named domain with another pod of one of the groups."""
    mask = np.zeros(placement.columns.node_count, dtype=np.bool_)
    for group in groups:
        mask |= placement.columns.domains.reach(group.topology_key, placement.sites(group.pods, without=pod))
    return mask


def _not_near(own: OwnTerms, pod: int, placement: Placement) -> BoolArray:
    """Nodes, bool[N], that lack a topology key or, for some term, a matching pod in their domain.

    Only pods that match all terms together count. If there is none, the first of a group that attracts itself may
    go wherever the keys exist.
    """
    domains = placement.columns.domains
    sites = placement.sites(own.attractors, without=pod)
    has_keys = np.ones(placement.columns.node_count, dtype=np.bool_)
    is_near = has_keys.copy()
    for topology_key in own.affinity_keys:
        reached = domains.reach(topology_key, sites)
        has_keys &= domains.of(topology_key)[0] != NOWHERE
        is_near &= reached
    is_alone = not any((domains.of(key)[0][sites] != NOWHERE).any() for key in own.affinity_keys)
    if is_alone and own.is_its_own_attractor:
        return ~has_keys
    return ~is_near
