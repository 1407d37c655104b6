"""States, domain by domain, what binding spread constraints count among the pods of an instance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.spread import SpreadDomains, spread_domains
from rescheduler.planning.problem.covers import IMPOSSIBLE
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.instance import (
    Hole,
    MovableGroup,
    PendingDemand,
    PodKind,
    Separation,
    SpreadBound,
    SpreadDomain,
)

# States, domain by domain, which pods of an instance may not end up together.


def separations_of(
    problem: Problem, local: IntArray, kinds: Sequence[PodKind], groups: Sequence[MovableGroup]
) -> tuple[Separation, ...]:
    """Anti-affinity and host ports between pods that may move or arrive.

    Each holds at the end of every allowed plan: a conflict binds whichever of the two arrives later. ``local`` maps
    node indices of the cluster to positions of the instance, int64[N].
    """
    firsts = np.array([group.pods[0] for group in groups], dtype=np.int64)
    homes = np.array([group.node for group in groups], dtype=np.int64)
    kind_pods = np.array([kind.pod for kind in kinds], dtype=np.int64)
    is_foe = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    domains = _DomainsByKey(problem, local)
    found: list[Separation] = []
    for number, kind in enumerate(kinds):
        if not problem.is_entangled(kind.pod):
            continue
        for conflict in problem.entanglement.conflicts(kind.pod):
            is_foe[:] = False
            is_foe[conflict.pods] = True
            is_mutual = bool(is_foe[kind.pod])
            in_way = np.flatnonzero(is_foe[firsts])
            rivals = tuple(n for n in np.flatnonzero(is_foe[kind_pods]).tolist() if n != number)
            arrivals = sum(kinds[rival].count for rival in rivals) + kind.count * is_mutual
            if not len(in_way) and arrivals < 1 + is_mutual:
                continue
            for domain in domains.of(conflict.topology_key):
                standing = tuple(in_way[np.isin(homes[in_way], domain)].tolist())
                if (standing or arrivals > is_mutual) and not _nobody(kind, domain):
                    found.append(Separation(number, domain, standing, rivals, is_mutual))
    return tuple(found)


def _nobody(kind: PodKind, domain: tuple[int, ...]) -> bool:
    return frozenset(kind.nodes).isdisjoint(domain)


class _DomainsByKey:
    """Positions of the instance's nodes, by domain of a topology key (None: each node alone); found once a key."""

    def __init__(self, problem: Problem, local: IntArray) -> None:
        self._problem = problem
        self._local = local
        self._found: dict[str | None, list[tuple[int, ...]]] = {}

    def of(self, topology_key: str | None) -> list[tuple[int, ...]]:
        if topology_key not in self._found:
            self._found[topology_key] = _domains(self._problem, self._local, topology_key)
        return self._found[topology_key]


def _domains(problem: Problem, local: IntArray, topology_key: str | None) -> list[tuple[int, ...]]:
    inside = np.flatnonzero(local != NOWHERE)
    if topology_key is None:
        return [(int(local[node]),) for node in inside]
    codes = problem.columns.domains.of(topology_key)[0][inside]
    return [tuple(local[inside[codes == code]].tolist()) for code in np.unique(codes).tolist() if code != NOWHERE]


# What a node must lose at least before pending pods fit there: rows that make models of the whole question tighter.

MOST_TOGETHER = 4


def holes_of(
    problem: Problem, nodes: IntArray, demands: Sequence[PendingDemand], kinds: Sequence[PodKind]
) -> tuple[Hole, ...]:
    """For each demand and each of ``nodes`` (indices) where it needs departures: the fewest for each pod of it.

    Looks at each resource alone, so that it never claims too much; other arrivals on the node only take room.
    """
    found: list[Hole] = []
    for demand in demands:
        request = problem.request_of(demand.pods[0])[:, None]
        most = min(len(demand.pods), MOST_TOGETHER)
        least = []
        for number in range(1, most + 1):
            deficit = np.where(request > 0, number * request - problem.free[:, nodes], 0)
            least.append(np.minimum(problem.covers.least(deficit, nodes), IMPOSSIBLE))
        # beyond the last number looked at, more pods never take fewer departures than it
        each = np.array([row * len(demand.pods) // number for number, row in enumerate(least, start=1)])
        if most < len(demand.pods):
            each[-1] = least[-1]
        found += [
            Hole(demand.kind, position, int(each[:, position].min()), len(demand.pods))
            for position in kinds[demand.kind].nodes
            if least[0][position] > 0
        ]
    return tuple(found)


def evenness_of(
    problem: Problem, local: IntArray, kinds: Sequence[PodKind], groups: Sequence[MovableGroup]
) -> tuple[SpreadBound, ...]:
    """Spread constraints of the pods that may move or arrive; kinds with equal constraints share one.

    ``local`` maps node indices of the cluster to positions of the instance, int64[N].
    """
    bound: dict[Hashable, tuple[SpreadDomains, list[int]]] = {}
    for number, kind in enumerate(kinds):
        rules = problem.entanglement.spread_rules(kind.pod) if problem.is_entangled(kind.pod) else ()
        for domains in spread_domains(problem.columns, rules):
            bound.setdefault(_identity(domains), (domains, []))[1].append(number)
    return tuple(_evenness(problem, local, kinds, groups, domains, members) for domains, members in bound.values())


def _identity(domains: SpreadDomains) -> Hashable:
    rule = domains.rule
    numbers = (rule.topology_key, rule.max_skew, rule.min_domains, rule.own_weight)
    return *numbers, rule.pods.tobytes(), domains.counted.tobytes()


def _evenness(
    problem: Problem,
    local: IntArray,
    kinds: Sequence[PodKind],
    groups: Sequence[MovableGroup],
    spread: SpreadDomains,
    members: list[int],
) -> SpreadBound:
    rule, codes, counted = spread.rule, spread.codes, spread.counted
    counts = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    counts[rule.pods] = True
    tally = spread.counts(problem.start)
    homes = {number: int(problem.start.node_of[group.pods[0]]) for number, group in enumerate(groups)}
    leaving = [number for number, group in enumerate(groups) if counts[group.pods[0]] and counted[homes[number]]]
    domains = []
    for code in range(len(tally)):
        nodes = np.flatnonzero((codes == code) & (local != NOWHERE))
        domains.append(
            SpreadDomain(
                nodes=tuple(local[nodes].tolist()),
                counted=tuple(local[nodes[counted[nodes]]].tolist()),
                count=int(tally[code]),
                groups=tuple(number for number in leaving if codes[homes[number]] == code),
                is_least=bool(spread.is_domain[code]),
            )
        )
    return SpreadBound(
        kinds=tuple(members),
        counted_kinds=tuple(number for number, kind in enumerate(kinds) if counts[kind.pod]),
        domains=tuple(domains),
        most=rule.max_skew - rule.own_weight,
        counts_itself=all(counts[kinds[member].pod] for member in members),
        is_from_zero=spread.is_from_zero,
    )
