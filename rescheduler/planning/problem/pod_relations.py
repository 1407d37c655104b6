"""Which pods bear on each other through more than the room they take: affinity, spread, host ports, volumes.

*Watched* pods are an over-estimate on purpose: a pod that is not watched by another can never change its verdict.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rescheduler.model.columns.affinity_terms import AffinityTerms
from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import HOSTNAME, SpreadDomains, SpreadRule, SpreadRules, spread_domains
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.scheduling.filters.node_ports import PortHolders

if TYPE_CHECKING:
    from rescheduler.planning.problem.old_copies import OldCopies

DO_NOT_SCHEDULE = "DoNotSchedule"
_NOBODY: IntArray = np.zeros(0, dtype=np.int64)


class Conflict(NamedTuple):
    """Pods (ascending indices) that may not share a domain of ``topology_key`` (None: a node) with a pod."""

    topology_key: str | None
    pods: IntArray


class PodRelations:
    """Relations between the pods of one cluster; made once for each shape and label set."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is resolved before it is asked for."""
        self._columns = columns
        self._conflicts: dict[tuple[int, int], tuple[Conflict, ...]] = {}
        self._watched: dict[tuple[int, int], IntArray] = {}
        self._is_entangled: dict[tuple[int, int], bool] = {}
        self._spreads: dict[tuple[int, int], tuple[SpreadDomains, ...]] = {}

    def is_entangled(self, pod: int) -> bool:
        """Whether places of other pods, room apart, bear on where this pod may arrive."""
        if self._columns.cluster.pods[pod].volumes:
            return True
        key = self._key(pod)
        found = self._is_entangled.get(key)
        if found is None:
            spec = self._columns.shapes[key[0]]
            found = self._is_entangled[key] = bool(
                spec.affinity
                or spec.anti_affinity
                or spec.host_ports
                or any(_binds(constraint) for constraint in spec.topology_spread)
                or self._terms.anti_affinity.about(key[1])
            )
        return found

    def conflicts(self, pod: int) -> tuple[Conflict, ...]:
        """Pods that the pod may not meet: required anti-affinity both ways, and host ports."""
        key = self._key(pod)
        found = self._conflicts.get(key)
        if found is None:
            groups: list[tuple[str | None, IntArray]] = [
                (group.topology_key, group.pods) for group in self._terms.own(pod).repelled_by
            ]
            groups += [(term.topology_key, term.pods) for term in self._terms.anti_affinity.about(key[1])]
            ports = self._columns.shapes[key[0]].host_ports
            if ports:
                groups += [(None, pods) for pods in self._columns.facts(PortHolders).in_conflict(ports)]
            by_key: dict[str | None, list[IntArray]] = {}
            for topology_key, pods in groups:
                by_key.setdefault(topology_key, []).append(pods)
            found = self._conflicts[key] = tuple(
                Conflict(topology_key, np.unique(np.concatenate(pods))) for topology_key, pods in by_key.items()
            )
        return found

    def attractors(self, pod: int) -> tuple[tuple[str, ...], IntArray, bool]:
        """Topology keys of the pod's required affinity, the pods that satisfy it, and whether it attracts itself."""
        own = self._terms.own(pod)
        return own.affinity_keys, own.attractors, own.is_its_own_attractor

    def spread_rules(self, pod: int) -> tuple[SpreadRule, ...]:
        """The pod's binding spread constraints."""
        return self._columns.facts(SpreadRules).own(pod, DO_NOT_SCHEDULE)

    def spreads(self, pod: int) -> tuple[SpreadDomains, ...]:
        """The same rules over the domains in which they count; pods alike have one answer."""
        key = self._key(pod)
        found = self._spreads.get(key)
        if found is None:
            found = self._spreads[key] = spread_domains(self._columns, self.spread_rules(pod))
        return found

    def watched(self, pod: int) -> IntArray:
        """Pods (ascending indices, perhaps the pod itself) whose place can change where this pod may arrive."""
        key = self._key(pod)
        found = self._watched.get(key)
        if found is None:
            parts = [conflict.pods for conflict in self.conflicts(pod)]
            parts += [rule.pods for rule in self.spread_rules(pod)]
            parts.append(self._terms.own(pod).attractors)
            found = self._watched[key] = np.unique(np.concatenate([_NOBODY, *parts]))
        if self._columns.cluster.pods[pod].volumes:
            return np.union1d(found, self._with_volumes)
        return found

    def origin_matters(self, pod: int) -> bool:
        """Whether pods that are alike but stand on different nodes may be refused by different other nodes.

        A pod's own old copy does not count, which opens its own node to it at most, unless domains hold several nodes.
        """
        conflicts = self.conflicts(pod)
        is_wide = any(conflict.topology_key not in (None, HOSTNAME) for conflict in conflicts)
        return is_wide or bool(self.spread_rules(pod)) or bool(self.attractors(pod)[0])

    @cached_property
    def _terms(self) -> AffinityTerms:
        return self._columns.facts(AffinityTerms)

    @cached_property
    def _with_volumes(self) -> IntArray:
        pods = self._columns.cluster.pods
        return np.array([number for number, pod in enumerate(pods) if pod.volumes], dtype=np.int64)

    def _key(self, pod: int) -> tuple[int, int]:
        return int(self._columns.shape_of[pod]), int(self._columns.label_set_of[pod])


def _binds(constraint: TopologySpreadConstraint) -> bool:
    return constraint.when_unsatisfiable == DO_NOT_SCHEDULE


# The filters' verdict on related pods for one node alone: separation, host ports, spread. Exact, and much quicker.


class Meetings:
    """Verdicts by the relations of one cluster's pods; what a rule means is worked out once."""

    def __init__(self, columns: Columns, entanglement: PodRelations, old_copies: OldCopies | None = None) -> None:
        """Nothing is worked out before it is asked for. ``old_copies``: pods that stand in their own way."""
        self._columns = columns
        self._entanglement = entanglement
        self._old_copies = old_copies

    def knows(self, pod: int) -> bool:
        """Whether the verdict can be given here: not for pods with volumes, or that others must attract."""
        return not self._columns.cluster.pods[pod].volumes and not self._entanglement.attractors(pod)[0]

    def allow(self, pod: int, node: int, placement: Placement) -> bool:
        """Whether nothing but room can keep the pod off the node; only an old copy that stays is in its own way."""
        refused = self._old_copies.refuse(pod, placement) if self._old_copies else None
        if refused is not None and refused[node]:
            return False
        return self._keeps_apart(pod, node, placement) and all(
            self._is_even(spread, pod, node, placement) for spread in self._entanglement.spreads(pod)
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

    def _is_even(self, domains: SpreadDomains, pod: int, node: int, placement: Placement) -> bool:
        rule, domain = domains.rule, domains.codes[node]
        if domain == NOWHERE:
            return False
        counts = domains.counts(placement, without=pod)
        return bool(counts[domain] + rule.own_weight - domains.least(counts) <= rule.max_skew)
