"""The question of defragmentation as arrays: shapes, what each movable pod takes and holds, kinds of pods, limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.planning.objectives.defragment.wanted_shapes import WantedShapes, WeightedShape
from rescheduler.planning.problem.covers import Covers
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import UNLIMITED, remaining_limits

Seat = tuple[int, int]
"""A movable pod (row) and the node it goes to."""


class DefragmentSituation:
    """One question about N nodes and M movable pods.

    ``arriving``, ``held``: int64[R, M], what a pod takes where it arrives, and holds where it is. ``most_moves``:
    departures left in all.
    """

    def __init__(self, request: PlanRequest, shapes: Sequence[WeightedShape]) -> None:
        """Gather the arrays; O(pods + nodes)."""
        self.problem = Problem(request.prediction, request.placement, request.eligibility)
        self.shapes = WantedShapes(self.problem.columns, shapes)
        self.limits = remaining_limits(request.eligibility.limits, request.placement)
        self.most_moves = min(self.limits.in_all, len(self.problem.movable))
        self.arriving, self.held = arriving_and_held(self.problem)

    @property
    def columns(self) -> Columns:
        """The cluster as arrays."""
        return self.problem.columns

    @cached_property
    def covers(self) -> Covers:
        """Covers by all movable pods."""
        return self.covers_of(np.ones(len(self.problem.movable), dtype=np.bool_))

    def covers_of(self, may_leave: BoolArray) -> Covers:
        """Covers by some of the movable pods, bool[M]."""
        return Covers(self.held, self.problem.origin, self.problem.node_count, may_leave)

    @cached_property
    def namespace_of(self) -> IntArray:
        """Number of each movable pod's namespace, int64[M]; all 0 where no limit is on namespaces."""
        return self._namespaces[0]

    @cached_property
    def left_in_namespace(self) -> IntArray:
        """Departures left in each numbered namespace."""
        return self._namespaces[1]

    @cached_property
    def _namespaces(self) -> tuple[IntArray, IntArray]:
        if self.limits.of_namespace is None:
            return np.zeros(len(self.problem.movable), dtype=np.int64), np.array([UNLIMITED])
        pods = self.columns.cluster.pods
        names = [pods[pod].namespace for pod in self.problem.movable.tolist()]
        distinct = sorted(set(names))
        number = {name: position for position, name in enumerate(distinct)}
        left = np.array([self.limits.of(name) for name in distinct], dtype=np.int64)
        return np.array([number[name] for name in names], dtype=np.int64), left


def arriving_and_held(problem: Problem) -> tuple[IntArray, IntArray]:
    """What each movable pod takes where it arrives and what it holds where it is, int64[R, M], all resources counted.

    ``Problem.requests`` leaves out what the scheduler does not check, but a shape may ask for it.
    """
    columns = problem.columns
    arriving: IntArray = columns.requests[:, columns.shape_of[problem.movable]]
    held = arriving.copy()
    pods = columns.cluster.pods
    for row, pod in enumerate(problem.movable.tolist()):
        if pods[pod].held is not None:
            held[:, row] = problem.start.held_at(pod, int(problem.origin[row]))
    return arriving, held


def held_on_nodes(situation: DefragmentSituation) -> IntArray:
    """What all movable pods hold on each node, int64[R, N]."""
    found = np.zeros_like(situation.problem.free)
    for total, amounts in zip(found, situation.held, strict=True):
        np.add.at(total, situation.problem.origin, amounts)
    return found
