"""What the objective SchedulerScore thinks of a placement: points that moved pods gained, negated."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.scheduler_score.estimates import estimated_gains
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


class SchedulerScoreState(ObjectiveState):
    """Cost: minus the points that each pod gained by going where it is, at the time it went.

    A pod's scheduler would judge a replacement, so the pod counts as gone on its own node. Where that node would be
    refused to it there is nothing to compare with, and its move is worth nothing.
    """

    def __init__(self, problem: Problem, minimum_gain: float) -> None:
        """Begin with the start of the problem. ``minimum_gain``: pods that gain less are not ``promising``."""
        self._problem = problem
        self._minimum_gain = minimum_gain
        self._placement = problem.start.copy()
        self.cost = 0.0

    def change(self, row: int) -> FloatArray:
        """Points lost on each node against the one where the pod is, float64[N]; infinite where a filter refuses."""
        pod = int(self._problem.movable[row])
        total = self._problem.prediction.totals(pod, self._placement)
        here = int(self._placement.node_of[pod])
        lost = (total[here] - total).astype(np.float64) if total[here] >= 0 else np.zeros(len(total))
        lost[total < 0] = np.inf
        lost[here] = 0.0
        return lost

    def promising(self) -> IntArray:
        """Pods that may gain enough, those first that may gain the most."""
        gains = estimated_gains(self._problem, self._placement)
        order = np.argsort(-gains, kind="stable")
        found: IntArray = order[gains[order] >= self._minimum_gain]
        return found

    def move(self, row: int, node: int) -> None:
        """Take a pod to a node."""
        pod = int(self._problem.movable[row])
        change = float(self.change(row)[node])
        self.cost += change if np.isfinite(change) else 0.0
        self._placement.forget(pod)
        self._placement.assume(pod, node)
