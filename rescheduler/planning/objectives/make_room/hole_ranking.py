"""Ranks nodes by how few departures a pod needs there, while rooms change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.covers import IMPOSSIBLE, CostOf, Covers
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem

# Chooses the nodes worth looking at together in a large cluster: cheap holes, and room to move pods into.


def candidate_nodes(problem: Problem, waiting: WaitingForReplacements, best: WaveSchedule, number: int) -> IntArray:
    """About ``number`` nodes, ascending: those of the best plan, half of the rest cheap holes, half the most room."""
    chosen = {node for wave in best.waves for pod, node in wave}
    chosen |= {int(problem.start.node_of[pod]) for wave in best.waves for pod, _ in wave}
    chosen |= {node for _, node, _ in best.places}
    covers = problem.covers
    least = np.full(problem.node_count, IMPOSSIBLE, dtype=np.int64)
    for multiset in waiting.multisets:
        if sum(multiset) == 1:
            count = np.where(waiting.allowed(multiset), covers.least(waiting.deficit(multiset)), IMPOSSIBLE)
            least = np.minimum(least, count)
    holes = np.argsort(least, kind="stable")[: int((least < IMPOSSIBLE).sum())]
    share = waiting.room / np.maximum(1, waiting.room.max(axis=1, initial=1))[:, None]
    asked = np.flatnonzero(problem.requests.any(axis=1))
    roomiest = np.argsort(-share[asked].min(axis=0), kind="stable")
    spare = max(0, number - len(chosen))
    chosen.update(holes[: spare // 2].tolist())
    for node in roomiest.tolist():
        if len(chosen) >= number:
            break
        chosen.add(node)
    return np.array(sorted(chosen), dtype=np.int64)


NODES_TRIED = 16
STEPS_PER_COVER = 200


class HoleRanking:
    """Nodes ranked by how few departures each pod needs there, kept up to date as nodes change."""

    def __init__(self, problem: Problem, covers: Covers) -> None:
        """``covers``: of the pods that may still be evicted."""
        self._problem = problem
        self._covers = covers
        self._least: dict[tuple[int, int], IntArray] = {}
        self._changed: dict[tuple[int, int], set[int]] = {}
        self._size_first = _size_first(problem)

    def note_changes(self, nodes: set[int]) -> None:
        """Room or movable pods of some nodes are other than before."""
        for changed in self._changed.values():
            changed.update(nodes)

    def options(self, room: IntArray, pod: int, allowance: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Nodes with the pods (rows) to evict there: the fewest pods first, then more but smaller ones."""
        request = self._problem.request_of(pod)[:, None]
        deficit = np.where(request > 0, request - room, 0)
        least = self._up_to_date(pod, deficit)
        nodes = np.flatnonzero(least <= min(allowance, IMPOSSIBLE - 1))
        nodes = nodes[np.argsort(least[nodes], kind="stable")]
        for cost_of, number in ((self._problem.eviction_cost, NODES_TRIED), (self._size_first, 4 * NODES_TRIED)):
            found = []
            for node in nodes[:number].tolist():
                cover = self._covers.cheapest(node, deficit[:, node], cost_of, allowance, STEPS_PER_COVER)
                if cover is not None:
                    found.append((cover.cost, node, cover.rows))
            yield from ((node, rows) for _, node, rows in sorted(found))

    def _up_to_date(self, pod: int, deficit: IntArray) -> IntArray:
        columns = self._problem.columns
        key = (int(columns.shape_of[pod]), int(columns.label_set_of[pod]))
        least = self._least.get(key)
        if least is None:
            mask = self._problem.static_mask(pod)[1]
            if self._problem.is_entangled(pod):
                mask = mask & ~self._problem.refused_by_others(pod, self._problem.start)
            least = self._least[key] = np.where(mask, self._covers.least(deficit), IMPOSSIBLE)
        elif self._changed[key]:
            nodes = np.array(sorted(self._changed[key]), dtype=np.int64)
            nodes = nodes[self._problem.static_mask(pod)[1][nodes]]
            least[nodes] = self._covers.least(deficit[:, nodes], nodes)
        self._changed[key] = set()
        return least


def _size_first(problem: Problem) -> CostOf:
    """A cost that grows steeply with the largest share of a node that a pod takes: small pods find places easily."""
    scale = np.maximum(1, problem.columns.allocatable.max(axis=1, initial=1))[:, None]

    def cost_of(rows: IntArray) -> IntArray:
        share = (problem.requests[:, rows] / scale).max(axis=0, initial=0.0)
        return np.asarray(1 + np.rint(10_000 * share).astype(np.int64))

    return cost_of
