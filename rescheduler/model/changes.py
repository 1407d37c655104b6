"""How a placement differs from the snapshot it began with: the pods that came to and went from each node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import NOWHERE, IntArray
from rescheduler.model.placement import Placement


class Changes(NamedTuple):
    """Pods and nodes as index arrays: ``left`` pods went from their nodes of the snapshot, ``arrived`` came to others.

    A pod that still leaves its node has not left it; a pod without a place in the snapshot may have arrived.
    """

    left: IntArray
    left_nodes: IntArray
    arrived: IntArray
    arrived_nodes: IntArray


def changes(placement: Placement, without: int = NOWHERE) -> Changes:
    """Compare a placement to its snapshot; the pod ``without`` counts as being nowhere now."""
    columns = placement.columns
    initial, here, leaving = columns.initial_node_of, placement.node_of, placement.leaving
    differing = (here != initial) | (leaving != NOWHERE)
    if without != NOWHERE:
        differing[without] = True
    pods = np.flatnonzero(differing)
    origin, now, former = initial[pods], here[pods], leaving[pods]
    is_own = pods == without
    has_left = (origin != NOWHERE) & (is_own | ((origin != now) & (origin != former)))
    is_new = (now != NOWHERE) & (now != origin) & ~is_own
    is_new_former = (former != NOWHERE) & (former != origin) & ~is_own
    return Changes(
        left=pods[has_left],
        left_nodes=origin[has_left].astype(np.int64),
        arrived=np.concatenate((pods[is_new], pods[is_new_former])),
        arrived_nodes=np.concatenate((now[is_new], former[is_new_former])).astype(np.int64),
    )
