"""Sends the pods of emptied nodes where the scheduler would send them by itself while those nodes are closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.planning.closing import close
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.waves import GroupsOfPods, Waves


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
