"""About how much each pod would gain by a better node: two evaluations for all pods of a kind instead of one each."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem


def estimated_gains(problem: Problem, placement: Placement, deadline: Deadline | None = None) -> FloatArray:
    """Points that each movable pod may gain, float64[M]; minus infinity where the deadline left no time to look.

    Pods of one shape and label set are judged by one of them: on every node as things stand, and on the nodes where
    they are with one of them gone. That is exact where scores follow from requests, and near elsewhere.
    """
    columns = problem.columns
    gains = np.full(len(problem.movable), -np.inf)
    kind = columns.shape_of[problem.movable].astype(np.int64) * len(columns.label_sets)
    kind += columns.label_set_of[problem.movable]
    order = np.argsort(kind, kind="stable")
    starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if len(order) else ():
        if deadline is not None and deadline.is_over():
            break
        gains[rows] = _gains_of_kind(problem, placement, rows)
    return gains


def _gains_of_kind(problem: Problem, placement: Placement, rows: IntArray) -> FloatArray:
    pods = problem.movable[rows]
    nodes = placement.node_of[pods]
    places = np.unique(nodes[nodes != NOWHERE])
    pod = int(pods[0])
    best = _two_best(problem.prediction.totals(pod, placement))
    own = _with_one_gone(problem, placement, pod, places)
    elsewhere = np.where(nodes == best.first, best.second_total, best.first_total)
    found: FloatArray = (elsewhere - own[nodes]).astype(np.float64)
    found[(own[nodes] < 0) | (elsewhere < 0)] = -np.inf
    return found


class _TwoBest:
    def __init__(self, first: int, first_total: int, second_total: int) -> None:
        self.first, self.first_total, self.second_total = first, first_total, second_total


def _two_best(total: IntArray) -> _TwoBest:
    """The best node, its total, and the best total elsewhere."""
    first = int(np.argmax(total))
    others = np.delete(total, first)
    return _TwoBest(first, int(total[first]), int(others.max(initial=-1)))


def _with_one_gone(problem: Problem, placement: Placement, pod: int, places: IntArray) -> IntArray:
    """Totals for a pod while each of these nodes lacks what one such pod holds there, int64[N]."""
    shape = problem.columns.shape_of[pod]
    own = int(placement.node_of[pod])
    lifted = places[places != own]  # its own node is judged without it anyway
    request = problem.columns.requests[:, [shape]]
    scored = problem.columns.scored_requests[:, [shape]]
    placement.used[:, lifted] -= request
    placement.scored_used[:, lifted] -= scored
    try:
        return problem.prediction.totals(pod, placement)
    finally:
        placement.used[:, lifted] += request
        placement.scored_used[:, lifted] += scored
