"""Sends the pods of emptied nodes where the scheduler would send them by itself while those nodes are closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.model.placement import Placement
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import FULL
from rescheduler.planning.draft import Schedule
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.waves import GroupsOfPods, Waves


def close(placement: Placement, nodes: Iterable[int]) -> None:
    """Leave no room on these nodes, as the placeholders do that hold them."""
    placement.used[:, list(nodes)] += FULL


def followed(
    situation: Situation,
    groups: GroupsOfPods,
    pods: Sequence[int],
    is_closed: BoolArray,
    packed: Mapping[int, int],
    deadline: Deadline,
) -> Schedule | None:
    """Waves in which every pod goes where the scheduler likes it best; None where somebody finds no place.

    ``packed``: pods that go to these nodes all the same, before the others.
    """
    problem = situation.problem
    waves = Waves(problem, groups)
    close(waves.now.placement, np.flatnonzero(is_closed))
    rest = [pod for pod in pods if pod in packed] + [pod for pod in pods if pod not in packed]
    while rest:
        waiting = []
        for pod in rest:
            if deadline.is_over():
                return None
            if not waves.may_leave(pod):
                waiting.append(pod)
                continue
            best = [packed[pod]] if pod in packed else problem.prediction.best_nodes(pod, waves.now.placement).tolist()
            best = [node for node in best if node != situation.start.node_of[pod]]
            if not best or not waves.try_move(pod, best[0]):
                return None
        if not waves.close():
            return None
        rest = waiting
    return waves.schedule


def guided_moves(situation: Situation, schedule: Schedule, is_closed: BoolArray, deadline: Deadline) -> frozenset[int]:
    """Moves to nodes that are not among those that the scheduler likes best; when time is over, all that are left."""
    placement = situation.start.copy()
    close(placement, np.flatnonzero(is_closed))
    guided = set()
    for wave in schedule.waves:
        for pod, node in wave:
            if deadline.is_over() or node not in _best(situation, placement, pod, is_closed):
                guided.add(pod)
            placement.move(pod, node)
        placement.settle()
    return frozenset(guided)


def _best(situation: Situation, placement: Placement, pod: int, is_closed: BoolArray) -> list[int]:
    """Nodes that the scheduler likes best for a pod whose own node is held too."""
    origin = int(placement.node_of[pod])
    held = placement.used[:, origin].copy()
    if not is_closed[origin]:
        close(placement, (origin,))
    best: list[int] = situation.problem.prediction.best_nodes(pod, placement).tolist()
    placement.used[:, origin] = held
    return [node for node in best if node != origin]
