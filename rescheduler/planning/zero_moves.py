"""Places pending pods without moving anybody: what every plan must at least match."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns import IntArray
from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.draft import Schedule
from rescheduler.planning.problem import Problem


def place_without_moves(problem: Problem) -> Schedule:
    """Give pending pods, most important first and then largest first, the tightest node that takes them now."""
    state = Arrivals(problem)
    places: list[tuple[int, int, int]] = []
    pods = problem.columns.cluster.pods
    capacity = np.maximum(1, problem.columns.allocatable.max(axis=1, initial=1))
    size = {pod: float((problem.request_of(pod) / capacity).max()) for pod in problem.pending}
    for pod in sorted(problem.pending, key=lambda pod: (-pods[pod].spec.priority, -size[pod], pod)):
        nodes = np.flatnonzero(state.open_nodes(pod))
        if len(nodes):
            node = tightest(state.placement.free(), problem.request_of(pod), nodes)
            state.placement.assume(pod, node)
            places.append((pod, node, 0))
    return Schedule((), tuple(places))


def tightest(room: IntArray, request: IntArray, nodes: IntArray) -> int:
    """Of some nodes the one with the least room left after a pod arrives, each resource as a share of the most."""
    scale = np.maximum(1, room.max(axis=1, initial=1))[:, None]
    left = ((room[:, nodes] - request[:, None]) / scale).sum(axis=0)
    return int(nodes[int(np.argmin(left))])
