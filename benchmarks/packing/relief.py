"""Brings every node below a mark by few moves: from each hot node the fewest pods, the largest first."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.objectives.empty_nodes.repacking.mending import mend
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating, seat_by_best_fit
from rescheduler.planning.problem.deadline import Deadline


class Relief(NamedTuple):
    """Where each pod ends, int64[P]; nodes above the mark before and after; fewest moves that any plan needs."""

    node_of: IntArray
    hot_before: int
    hot_after: int
    bound: int


def relieve(drainage: Drainage, mark: float, deadline: Deadline, seed: int) -> Relief:
    """Bring nodes to at most ``mark`` (a fraction of capacity) in every resource, without making others hot.

    Pods for which no room is found below the mark stay where they are, and their node stays hot.
    """
    below = replace(drainage, capacity=np.floor(drainage.capacity * mark).astype(np.int64))
    seating = Seating(below, ())
    hot = np.flatnonzero((seating.free < 0).any(axis=1))
    bound = sum(_fewest(seating, int(node)) for node in hot)
    for node in hot.tolist():
        for pod in _leaving(seating, node):
            seating.seat(pod, NOWHERE)
    seat_by_best_fit(seating)
    mend(seating, len(drainage.home), deadline, np.random.default_rng(seed))
    for pod in seating.unseated:
        seating.seat(pod, int(drainage.home[pod]))
    return Relief(seating.node_of.copy(), len(hot), int((seating.free < 0).any(axis=1).sum()), bound)


def _leaving(seating: Seating, node: int) -> list[int]:
    """Pods whose going brings the node to its mark: always the one that takes most of what is too much."""
    request = seating.drainage.request
    excess = np.maximum(0, -seating.free[node])
    here = list(seating.pods_of[node])
    chosen: list[int] = []
    while excess.any() and here:
        weight = np.where(excess > 0, 1.0 / np.maximum(1, excess), 0.0)
        pod = max(here, key=lambda pod: (float((np.minimum(request[pod], excess) * weight).sum()), -pod))
        here.remove(pod)
        chosen.append(pod)
        excess = np.maximum(0, excess - request[pod])
    return _without_needless(seating, node, chosen)


def _without_needless(seating: Seating, node: int, chosen: list[int]) -> list[int]:
    """Leave out, the smallest first, whatever is not needed after all."""
    request = seating.drainage.request
    spare = seating.free[node] + request[chosen].sum(axis=0)
    needed = []
    for pod in sorted(chosen, key=lambda pod: float((request[pod] * seating.weight).sum())):
        if (spare >= request[pod]).all():
            spare = spare - request[pod]
        else:
            needed.append(pod)
    return needed


def _fewest(seating: Seating, node: int) -> int:
    """Resource by resource the largest pods first; the resource that needs the most of them decides."""
    request = seating.drainage.request[seating.pods_of[node]]
    fewest = 0
    for sizes, free in zip(request.T, seating.free[node], strict=True):
        if free < 0:
            freed = np.cumsum(np.sort(sizes)[::-1])
            fewest = max(fewest, int(np.searchsorted(freed, -free)) + 1)
    return fewest
