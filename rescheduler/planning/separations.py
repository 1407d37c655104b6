"""States, domain by domain, which pods of an instance may not end up together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns import NOWHERE, IntArray
from rescheduler.planning.instance import Demand, Group, Kind, Separation
from rescheduler.planning.problem import Problem


def separations_of(
    problem: Problem, local: IntArray, kinds: Sequence[Kind], groups: Sequence[Group], demands: Sequence[Demand]
) -> tuple[Separation, ...]:
    """Anti-affinity and host ports between pods that may move or arrive.

    Each holds at the end of every allowed plan: a conflict binds whichever of the two arrives later. ``local`` maps
    node indices of the cluster to positions of the instance, int64[N].
    """
    pods_of = _pods_of_kinds(kinds, groups, demands)
    found: list[Separation] = []
    for number, kind in enumerate(kinds):
        if not problem.is_entangled(kind.pod):
            continue
        for conflict in problem.entanglement.conflicts(kind.pod):
            foes = frozenset(conflict.pods.tolist())
            in_way = [n for n, group in enumerate(groups) if group.pods[0] in foes]
            rivals = [n for n, pods in enumerate(pods_of) if n != number and pods[0] in foes]
            is_mutual = kind.pod in foes
            if not in_way and not rivals and not is_mutual:
                continue
            for domain in _domains(problem, local, conflict.topology_key):
                inside = frozenset(domain)
                nodes = tuple(node for node in kind.nodes if node in inside)
                if nodes:
                    standing = tuple(n for n in in_way if groups[n].node in inside)
                    found.append(Separation(number, domain, standing, tuple(rivals), is_mutual))
    return tuple(found)


def _pods_of_kinds(
    kinds: Sequence[Kind], groups: Sequence[Group], demands: Sequence[Demand]
) -> list[tuple[int, ...]]:
    pods: list[tuple[int, ...]] = [(kind.pod,) for kind in kinds]
    for group in groups:
        pods[group.kind] = group.pods
    for demand in demands:
        pods[demand.kind] = demand.pods
    return pods


def _domains(problem: Problem, local: IntArray, topology_key: str | None) -> list[tuple[int, ...]]:
    inside = np.flatnonzero(local != NOWHERE)
    if topology_key is None:
        return [(int(local[node]),) for node in inside]
    codes = problem.columns.domains.of(topology_key)[0][inside]
    return [
        tuple(local[inside[codes == code]].tolist()) for code in np.unique(codes).tolist() if code != NOWHERE
    ]
