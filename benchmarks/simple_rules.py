"""The simple rules that planning must not fall behind, each stopped by the same deadline; what they reach, as a cost.

Whatever they move passes every filter. They leave out all that makes a plan: order, budgets of waves, bounds, proof.
"""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import Baseline
from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


def emptied_with_fewest_pods_first(
    prediction: SchedulerPrediction, eligibility: Eligibility, deadline: Deadline
) -> int:
    """Nodes emptied, fewest pods first, each pod to the first node with room that every filter passes."""
    columns, placement = prediction.columns, Placement(prediction.columns)
    home, free = placement.node_of.copy(), placement.free()
    movable: list[list[int]] = [[] for _ in range(columns.node_count)]
    for pod in eligibility.movable:
        movable[home[pod]].append(pod)
    pods_on = np.bincount(home[home >= 0], minlength=columns.node_count)
    limits = eligibility.limits
    left = 2**60 if limits.max_evictions is None else limits.max_evictions
    most = 2**60 if limits.max_evictions_per_node is None else limits.max_evictions_per_node
    is_open = pods_on > 0
    received: set[int] = set()
    emptied = 0
    for node in np.argsort(pods_on, kind="stable").tolist():
        pods = movable[node]
        if not pods or len(pods) != pods_on[node] or len(pods) > min(left, most) or node in received:
            continue
        if deadline.is_over():
            break
        is_open[node] = False
        goals = _seats(prediction, placement, pods, free, is_open)
        if goals is None:
            is_open[node] = True
        else:
            left, emptied = left - len(pods), emptied + 1
            received |= goals
    return emptied


def _seats(
    prediction: SchedulerPrediction, placement: Placement, pods: list[int], free: IntArray, is_open: np.ndarray
) -> set[int] | None:
    """First nodes with room for all of these pods, or none, and nothing is changed."""
    columns, goals = prediction.columns, list[tuple[int, int, int]]()
    for pod in pods:
        request = columns.requests[:, columns.shape_of[pod]]
        fits = is_open & ((request[:, None] <= free) | (request[:, None] == 0)).all(axis=0)
        spec = columns.cluster.pods[pod].spec
        is_related = bool(spec.anti_affinity or spec.affinity or spec.topology_spread or spec.host_ports)
        fits &= prediction.feasible(pod, placement) if is_related else prediction.static_feasible(pod)
        node = int(fits.argmax())
        if not fits[node]:
            for other, origin, goal in reversed(goals):
                free[:, goal] += columns.requests[:, columns.shape_of[other]]
                placement.forget(other)
                placement.assume(other, origin)
            return None
        goals.append((pod, int(placement.node_of[pod]), node))
        free[:, node] -= request
        placement.forget(pod)
        placement.assume(pod, node)
    return {goal for _, _, goal in goals}


class _WithinLimits(Baseline):
    """Evicts no more than limits allow, in all and from each node."""

    def __init__(self, prediction: SchedulerPrediction, eligibility: Eligibility) -> None:
        """Nothing is spent."""
        super().__init__(prediction, eligibility)
        limits = eligibility.limits
        self._most = 2**60 if limits.max_evictions is None else limits.max_evictions
        self._most_of_node = 2**60 if limits.max_evictions_per_node is None else limits.max_evictions_per_node

    def _carry_out(self, pod: int, node: int, victims: list[int]) -> bool:
        if len(victims) > self._most_of_node or self.evictions + len(victims) > self._most:
            return False
        return super()._carry_out(pod, node, victims)


def helped_at_first_node(prediction: SchedulerPrediction, eligibility: Eligibility, deadline: Deadline) -> int:
    """Pending pods that the first node that works takes, within the limits."""
    rule = _WithinLimits(prediction, eligibility)
    waiting = rule.pending
    for pod in waiting:
        if deadline.is_over():
            break
        rule.pending = (pod,)
        rule.first_node_that_works()
    return rule.helped


def cost_of_first_gains(state: ObjectiveState, problem: Problem, request: PlanRequest, deadline: Deadline) -> float:
    """Cost in the end where one pod after the other, the most promising first, goes where that helps most."""
    placement = request.placement.copy()
    limits = request.eligibility.limits
    left = 2**60 if limits.max_evictions is None else limits.max_evictions
    most = 2**60 if limits.max_evictions_per_node is None else limits.max_evictions_per_node
    gone: IntArray = np.zeros(problem.node_count, dtype=np.int64)
    for row in state.promising().tolist():
        if deadline.is_over() or left <= 0:
            break
        pod, origin = int(problem.movable[row]), int(problem.origin[row])
        change = np.where(problem.prediction.feasible(pod, placement), state.change(row), np.inf)
        change[origin] = np.inf
        node = int(change.argmin())
        if change[node] < -1e-9 and gone[origin] < most:
            state.move(row, node)
            placement.forget(pod)
            placement.assume(pod, node)
            gone[origin] += 1
            left -= 1
    return float(state.cost)
