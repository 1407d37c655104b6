"""How others choose nodes to empty: one node after the other, all its pods or none, by room and static filters."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility

Rule = Literal["pods", "utilisation", "under-utilised"]
_UNDER_UTILISED = 0.5


def emptied_one_by_one(
    prediction: SchedulerPrediction, eligibility: Eligibility, most_evictions: int | None, rule: Rule
) -> int:
    """Number of nodes emptied.

    ``pods``: fewest pods first, each pod to the first node with room (Karpenter's order); ``utilisation``: least used
    first, first node (cluster-autoscaler's); ``under-utilised``: of nodes less than half used in everything, least used
    first, each pod to the emptiest node (HighNodeUtilization with kube-scheduler's default, emptied nodes held).
    """
    columns = prediction.columns
    home = Placement(columns).node_of
    free = Placement(columns).free()
    movable: list[list[int]] = [[] for _ in range(columns.node_count)]
    for pod in eligibility.movable:
        movable[home[pod]].append(pod)
    pods_on = np.bincount(home[home >= 0], minlength=columns.node_count)
    left = 2**60 if most_evictions is None else most_evictions
    is_open = np.ones(columns.node_count, dtype=np.bool_)
    received: set[int | None] = set()  # such nodes are not emptied: a pod moves once
    emptied = 0
    for node in _order(rule, free, columns.allocatable, pods_on):
        pods = movable[node]
        if pods_on[node] == 0 or len(pods) != pods_on[node] or len(pods) > left or node in received:
            continue
        trial = free.copy()
        is_open[node] = False
        goals = {_seat(prediction, pod, trial, is_open, rule) for pod in pods}
        if None not in goals:
            free, left, emptied = trial, left - len(pods), emptied + 1
            received |= goals
        else:
            is_open[node] = True
    return emptied


def _order(rule: Rule, free: IntArray, allocatable: IntArray, pods_on: IntArray) -> list[int]:
    used = 1.0 - free / np.maximum(1, allocatable)
    share = used[:2].max(axis=0)
    if rule == "pods":
        return [int(node) for node in np.argsort(pods_on, kind="stable")]
    nodes = np.argsort(share, kind="stable")
    if rule == "under-utilised":
        nodes = nodes[(used[:3] < _UNDER_UTILISED).all(axis=0)[nodes]]
    return [int(node) for node in nodes]


def _seat(prediction: SchedulerPrediction, pod: int, free: IntArray, is_open: BoolArray, rule: Rule) -> int | None:
    columns = prediction.columns
    request = columns.requests[:, columns.shape_of[pod]]
    fits = (
        prediction.static_feasible(pod) & is_open & ((request[:, None] <= free) | (request[:, None] == 0)).all(axis=0)
    )
    nodes = np.flatnonzero(fits)
    if not len(nodes):
        return None
    node = int(nodes[0])
    if rule == "under-utilised":
        room = (free[:2, nodes] / np.maximum(1, columns.allocatable[:2, nodes])).sum(axis=0)
        node = int(nodes[int(room.argmax())])
    free[:, node] -= request
    return node
