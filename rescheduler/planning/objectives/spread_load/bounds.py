"""The least overload that any plan of so many evictions can leave."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits


def least_overload(problem: Problem, state: LoadState, limits: RemainingLimits) -> float:
    """A proven lower bound, whatever is moved where and in what order, in the unit of the state's cost.

    Each node's relief by j departures is at most concave in j, so that the largest marginal reliefs over all nodes
    bound any plan of as many evictions; and what all nodes together use above what they may cannot go away at all.
    """
    over = state.over()
    start = float(over.sum())
    if start == 0.0:
        return 0.0
    marginals = [
        _marginals(state.uses[:, rows], over[:, node], int(min(limits.of_node[node], limits.in_all)))
        for node, rows in _leavers(problem, state).items()
    ]
    largest = np.sort(np.concatenate([np.zeros(1), *marginals]))[::-1][: max(0, limits.in_all)]
    return max(0.0, start - float(largest.sum()), _unavoidable(state))


def _leavers(problem: Problem, state: LoadState) -> dict[int, IntArray]:
    """Rows of the pods that may leave each hot node for some other one, by node."""
    rows = np.flatnonzero(state.hot()[state.node_of] & (state.uses > 0).any(axis=0))
    if not len(rows):
        return {}
    room = _most_room(problem)
    shapes = problem.columns.shape_of[problem.movable[rows]].astype(np.int64)
    looks = problem.mask_numbers[rows] * len(problem.columns.shapes) + shapes
    _, first, number = np.unique(looks, return_index=True, return_inverse=True)
    found = [_place(problem, state, int(row), room) for row in rows[first].tolist()]
    can_leave = np.array([count > 1 for count, _ in found])[number]
    only = np.array([node if count == 1 else NOWHERE for count, node in found])[number]
    can_leave |= (only != NOWHERE) & (only != state.node_of[rows])
    rows = rows[can_leave]
    at = state.node_of[rows]
    order = np.argsort(at, kind="stable")
    nodes, starts = np.unique(at[order], return_index=True)
    return dict(zip(nodes.tolist(), np.split(rows[order], starts[1:]), strict=bool(len(rows))))


def _place(problem: Problem, state: LoadState, row: int, room: IntArray) -> tuple[int, int]:
    """How many nodes of known load could take a pod if all that may leave had left, and the first of them."""
    mask = problem.static_mask(int(problem.movable[row]))[1]
    found = mask & state.load.is_known & fits(problem.requests[:, row], room)
    return int(found.sum()), int(np.argmax(found))


def _most_room(problem: Problem) -> IntArray:
    """Room of each node once all movable pods have left it, int64[R, N]."""
    room: IntArray = problem.free.copy()
    for resource in range(len(room)):
        np.add.at(room[resource], problem.origin, problem.held[resource])
    return room


def _marginals(uses: FloatArray, over: FloatArray, most: int) -> FloatArray:
    """Upper bounds of the relief by the first, second, ... departure from one node; they never grow."""
    reliefs = np.sort(np.minimum(uses, over[:, None]).sum(axis=0))[::-1]
    by_pod = np.cumsum(reliefs)
    by_resource = np.minimum(np.cumsum(np.sort(uses, axis=1)[:, ::-1], axis=1), over[:, None]).sum(axis=0)
    total = np.minimum(np.minimum(by_pod, by_resource), over.sum())
    marginals: FloatArray = np.diff(total, prepend=0.0)[: max(0, most)]
    return marginals


def _unavoidable(state: LoadState) -> float:
    """What known nodes use together above what they may use together; no move between them changes that."""
    load = state.load
    known = load.is_known
    excess = (load.use[:, known].sum(axis=1) - load.allowed[:, known].sum(axis=1)) / load.unit
    return float(np.maximum(0.0, excess).sum())
