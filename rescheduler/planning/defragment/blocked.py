"""Nodes on which a shape would fit but for pods that must stay, told with those pods and why."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.model.disruption import Eligibility
from rescheduler.model.plan import Refusal
from rescheduler.planning.defragment.situation import Situation, held_on_nodes

_MOST_NODES = 100
_MOST_PODS = 3


def blocked_nodes(situation: Situation) -> IntArray:
    """Nodes where some shape fits if they are empty, and not as long as pods stay that must; ascending."""
    shapes, problem = situation.shapes, situation.problem
    possible = shapes.often(problem.free + held_on_nodes(situation))
    empty = shapes.often(problem.columns.allocatable)
    is_closed = problem.free < -problem.columns.allocatable  # by earlier objectives, not by pods
    stuck = ((possible == 0) & (empty > 0)).any(axis=0) & ~is_closed.any(axis=0)
    return np.flatnonzero(stuck)


def refusals_of(situation: Situation, nodes: IntArray, eligibility: Eligibility) -> tuple[Refusal, ...]:
    """One refusal for each of these nodes (the first hundred), with the largest pods that must stay there."""
    columns = situation.columns
    is_movable = np.zeros(columns.pod_count, dtype=np.bool_)
    is_movable[situation.problem.movable] = True
    node_of = situation.problem.start.node_of
    is_blocked = np.zeros(columns.node_count + 1, dtype=np.bool_)  # one more for pods that are nowhere
    is_blocked[nodes[:_MOST_NODES]] = True
    staying = np.flatnonzero(~is_movable & is_blocked[node_of])
    scale = np.maximum(1, columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
    size = (columns.requests[:, columns.shape_of[staying]] / scale[:, None]).max(axis=0, initial=0.0)
    staying = staying[np.lexsort((staying, -size))]
    return tuple(
        _refusal(situation, node, staying[node_of[staying] == node].tolist(), eligibility)
        for node in nodes[:_MOST_NODES].tolist()
    )


def _refusal(situation: Situation, node: int, pods: list[int], eligibility: Eligibility) -> Refusal:
    name = situation.columns.cluster.nodes[node].name
    told = [_why(situation, pod, eligibility) for pod in pods[:_MOST_PODS]]
    more = [f"and {len(pods) - _MOST_PODS} more"] if len(pods) > _MOST_PODS else []
    rule = told[0][0] if told else "Eligibility"
    words = "; ".join([message for _, message in told] + more)
    return Refusal(rule=rule, message=f"no room for the shapes can be made on {name}: {words}", node=name)


def _why(situation: Situation, pod: int, eligibility: Eligibility) -> tuple[str, str]:
    """Rule and message."""
    key = situation.columns.cluster.pods[pod].key
    refusal = eligibility.refusals.get(pod)
    if refusal is not None:
        return refusal.rule, refusal.message if key in refusal.message else f"{key}: {refusal.message}"
    spent = next((group for group in eligibility.groups if group.allowed_per_wave <= 0 and pod in group.pods), None)
    if spent is not None:
        return spent.rule, f"{key} belongs to {spent.rule} {spent.name}, which allows no disruption now"
    return "Eligibility", f"{key} may not be moved, or has moved already"
