"""Mixed-integer program: the fewest pods on so many emptied nodes that the others could have room for, summed up."""

from __future__ import annotations

from math import ceil

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.planning.deadline import Deadline

_MOST_NODES_OF_TREE = 5_000
_ENOUGH = 1e-6


def fewest_to_empty(
    pods_on: IntArray,
    load: IntArray,
    room: IntArray,
    can_be_emptied: BoolArray,
    is_empty: BoolArray,
    count: int,
    deadline: Deadline,
) -> int:
    """A proven least number of evictions for ``count`` nodes more that are empty; 0 where nothing is proven.

    ``pods_on``: int64[N]; ``load``: int64[R, N], what these pods request; ``room``: int64[R, N], free now, never
    negative; an empty node's room may be used only if another node is emptied for it. What must fit somewhere must fit
    in all the room together, so no real plan is cut off.
    """
    nodes = np.flatnonzero(can_be_emptied)
    spare = np.flatnonzero(is_empty)
    if count <= 0 or count > len(nodes):
        return 0
    scale = np.maximum(1, (load + room).max(axis=1, initial=1))[:, None].astype(np.float64)
    taken, free = load / scale, room / scale
    used = free.sum(axis=1) - free[:, spare].sum(axis=1)
    rows = np.hstack([taken[:, nodes] + free[:, nodes], -free[:, spare]])
    number = np.concatenate([np.ones(len(nodes)), -np.ones(len(spare))])
    cost = np.concatenate([pods_on[nodes].astype(np.float64), np.zeros(len(spare))])
    found = milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(rows, -np.inf, used * (1 + _ENOUGH) + _ENOUGH),
            LinearConstraint(number[None, :], count, np.inf),
        ],
        options={"time_limit": max(0.05, deadline.remaining()), "node_limit": _MOST_NODES_OF_TREE},
    )
    bound = getattr(found, "mip_dual_bound", None)
    return 0 if bound is None or not np.isfinite(bound) else max(0, ceil(bound - 1e-4))
