"""Places pending pods without moving anybody: what every plan must at least match."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.draft import Schedule
from rescheduler.planning.problem import Problem


def place_without_moves(problem: Problem) -> Schedule:
    """Give pending pods, most important first and then largest first, the tightest node that takes them now.

    Of pods that go together all get one, or none.
    """
    state = Arrivals(problem)
    places: list[tuple[int, int, int]] = []
    capacity = np.maximum(1, problem.columns.allocatable.max(axis=1, initial=1))
    size = {pod: float((problem.request_of(pod) / capacity).max()) for pod in problem.pending}
    order = sorted(problem.pending, key=lambda pod: (-problem.wishes.priority(pod), -size[pod], pod))
    for unit in problem.wishes.in_units(order):
        nodes = _place_all(problem, state, unit)
        places += [(pod, node, 0) for pod, node in nodes.items()]
    return Schedule((), tuple(places))


def _place_all(problem: Problem, state: Arrivals, unit: Sequence[int]) -> dict[int, int]:
    """Nodes for all these pods, in ``state`` too, or for none."""
    placed: dict[int, int] = {}
    for pod in unit:
        nodes = np.flatnonzero(state.open_nodes(pod))
        if not len(nodes):
            for other in placed:
                state.placement.forget(other)
            return {}
        placed[pod] = tightest(state.placement.free(), problem.request_of(pod), nodes)
        state.placement.assume(pod, placed[pod])
    return placed


def tightest(room: IntArray, request: IntArray, nodes: IntArray) -> int:
    """Of some nodes the one with the least room left after a pod arrives, each resource as a share of the most."""
    scale = np.maximum(1, room.max(axis=1, initial=1))[:, None]
    left = ((room[:, nodes] - request[:, None]) / scale).sum(axis=0)
    return int(nodes[int(np.argmin(left))])
