"""States, domain by domain, which pods of an instance may not end up together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import NOWHERE, IntArray
from rescheduler.planning.instance import Group, Kind, Separation
from rescheduler.planning.problem import Problem


def separations_of(
    problem: Problem, local: IntArray, kinds: Sequence[Kind], groups: Sequence[Group]
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


def _nobody(kind: Kind, domain: tuple[int, ...]) -> bool:
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
