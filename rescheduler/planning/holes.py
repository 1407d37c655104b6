"""What a node must lose at least before pending pods fit there: rows that make models of the whole question tighter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.planning.covers import IMPOSSIBLE
from rescheduler.planning.instance import Demand, Hole, Kind
from rescheduler.planning.problem import Problem

MOST_TOGETHER = 4


def holes_of(problem: Problem, nodes: IntArray, demands: Sequence[Demand], kinds: Sequence[Kind]) -> tuple[Hole, ...]:
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
