"""Which pods of a small cluster may not end up where, because of required anti-affinity and host ports."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rescheduler.model.arrays import NOWHERE, IntArray
from rescheduler.planning.problem import Problem

Place = tuple[int, int]
"""A movable pod (row) on a node."""


def pairs_apart(problem: Problem) -> Iterator[tuple[Place, Place]]:
    """Pairs of places that exclude each other; a pair of one place with itself rules the place out.

    A conflict binds whoever arrives, so a pod that stays counts on its origin. Pairs of two that stay are left out.
    """
    start = problem.start.node_of
    for row, pod in enumerate(problem.movable.tolist()):
        if not problem.is_entangled(pod):
            continue
        for conflict in problem.entanglement.conflicts(pod):
            codes = _domains(problem, conflict.topology_key)
            for other in conflict.pods.tolist():
                if other == pod or start[other] == NOWHERE:
                    continue
                rival = problem.row_of_movable.get(other)
                if rival is None:
                    yield from (((row, node), (row, node)) for node in _shared(codes, int(start[other]), row, problem))
                else:
                    yield from _pairs(problem, codes, row, rival)


def _pairs(problem: Problem, codes: IntArray, row: int, rival: int) -> Iterator[tuple[Place, Place]]:
    for node in range(problem.node_count):
        for place in np.flatnonzero((codes == codes[node]) & (codes != NOWHERE)).tolist():
            if node != problem.origin[row] or place != problem.origin[rival]:
                yield (row, node), (rival, place)


def _shared(codes: IntArray, node: int, row: int, problem: Problem) -> list[int]:
    """Nodes of the same domain that the pod is not on."""
    same = np.flatnonzero((codes == codes[node]) & (codes != NOWHERE)).tolist()
    return [place for place in same if place != problem.origin[row]]


def _domains(problem: Problem, topology_key: str | None) -> IntArray:
    """Number of each node's domain, int64[N]; None: every node is its own."""
    if topology_key is None:
        return np.arange(problem.node_count)
    codes: IntArray = problem.columns.domains.of(topology_key)[0].astype(np.int64)
    return codes
