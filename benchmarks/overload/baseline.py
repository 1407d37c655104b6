"""What LowNodeUtilization would do: the hottest nodes first, their smallest pods first, each to the coolest node."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.problem.plan_request import PlanRequest


def relieved_by_smallest_pods(question: PlanRequest, observed: ObservedUse, target: float) -> dict[int, int]:
    """Moves (pod to node) within the limit on evictions; every filter holds at each arrival. Cpu only."""
    prediction, placement = question.prediction, question.placement.copy()
    capacity, amounts = observed.capacity[0], observed.of_pods[0]
    placed = np.flatnonzero(placement.node_of >= 0)
    use = np.bincount(placement.node_of[placed], amounts[placed], minlength=len(capacity))
    left = question.eligibility.limits.max_evictions or len(amounts)
    movable = np.array(question.eligibility.movable, dtype=np.int64)
    moves: dict[int, int] = {}
    for node in np.argsort(-use / capacity, kind="stable").tolist():
        here = movable[question.placement.node_of[movable] == node]
        for pod in here[np.argsort(amounts[here], kind="stable")].tolist():
            if len(moves) >= left or use[node] <= target * capacity[node]:
                break
            fits = prediction.feasible(pod, placement) & (use + amounts[pod] <= target * capacity)
            fits[node] = False
            if fits.any():
                goal = int(np.argmin(np.where(fits, use / capacity, np.inf)))
                placement.forget(pod)
                placement.assume(pod, goal)
                use[node] -= amounts[pod]
                use[goal] += amounts[pod]
                moves[pod] = goal
    return moves
