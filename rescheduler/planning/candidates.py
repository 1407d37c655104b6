"""Chooses the nodes worth looking at together in a large cluster: cheap holes, and room to move pods into."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.planning.covers import IMPOSSIBLE
from rescheduler.planning.draft import Schedule
from rescheduler.planning.problem import Problem
from rescheduler.planning.waiting import Waiting


def candidate_nodes(problem: Problem, waiting: Waiting, best: Schedule, number: int) -> IntArray:
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
