"""Seats pods where what they ask for looks most like what is free: the vector packing rule for several resources.

After the dot product heuristic of vector bin packing (Panigrahy et al., 2011): residuals keep the proportions that
later pods ask for, so that no resource is left over where another one is used up.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating
from rescheduler.planning.problem.deadline import Deadline

# How strongly a resource that is nearly used up counts before one that is not.
_EMPHASIS = 4


def seat_by_alignment(seating: Seating, deadline: Deadline | None = None) -> None:
    """Seat what has no seat, the largest first, until the deadline; some may stay without."""
    drainage = seating.drainage
    waiting = np.array(seating.unseated, dtype=np.int64)
    if not waiting.size or not len(seating.kept):
        return
    weight = _scarcity(seating, waiting)
    request = drainage.request * weight
    order = waiting[np.lexsort((drainage.kind_of[waiting], -request[waiting].sum(axis=1)))]
    free = seating.free * weight
    for _, alike in groupby(order.tolist(), key=lambda pod: int(drainage.kind_of[pod])):
        if deadline is not None and deadline.is_over():
            return
        _seat_alike(seating, list(alike), request, weight, free)


def _seat_alike(seating: Seating, pods: list[int], request: FloatArray, weight: FloatArray, free: FloatArray) -> None:
    """Seat pods that ask for the same; after each only the node that took it looks different."""
    drainage = seating.drainage
    asked, wanted = drainage.request[pods[0]], request[pods[0]]
    likeness = np.where(seating.fits(pods[0]), _likeness(free, wanted), -np.inf)
    for pod in pods:
        node = int(likeness.argmax())
        if likeness[node] == -np.inf:
            return
        seating.seat(pod, node)
        free[node] = seating.free[node] * weight
        has_room = bool((seating.free[node] >= asked).all())
        likeness[node] = float(_likeness(free[node], wanted)) if has_room else -np.inf


def _likeness(free: FloatArray, wanted: FloatArray) -> FloatArray:
    """Cosine of the angle between room and request, times a constant."""
    likeness: FloatArray = free @ wanted / np.sqrt((free**2).sum(axis=-1) + 1e-18)
    return likeness


def _scarcity(seating: Seating, waiting: IntArray) -> FloatArray:
    """One over the capacity of a kept node in the mean, times how much of what is free is asked for, emphasised."""
    drainage = seating.drainage
    wanted = drainage.request[waiting].sum(axis=0)
    free = np.maximum(1, seating.free[seating.kept].clip(min=0).sum(axis=0))
    mean = np.maximum(1.0, drainage.capacity[seating.kept].clip(min=0).mean(axis=0))
    weight: FloatArray = np.minimum(1.0, wanted / free) ** _EMPHASIS / mean
    return weight if weight.any() else np.asarray(1.0 / mean)
