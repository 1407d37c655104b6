"""Nodes that empty by the scheduler's own choice, with nothing held: rare where it prefers the emptiest node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.waves import GroupsOfPods, Waves


def emptied_without_holds(
    situation: Situation, groups: GroupsOfPods, order: Sequence[int], deadline: Deadline
) -> Solution:
    """Empty nodes in this order, each only if the scheduler would send none of its pods back, or to an emptied one."""
    waves = Waves(situation.problem, groups)
    shunned = situation.is_empty.copy()
    for node in order:
        if deadline.is_over():
            break
        kept, count = waves.now.copy(), len(waves.done)
        shunned[node] = True
        if not _empties(situation, waves, node, shunned) or not _is_better(situation, waves.schedule, count):
            shunned[node] = False
            waves.rewind(kept, count)
    return solution_of(situation, waves.schedule)


def _empties(situation: Situation, waves: Waves, node: int, shunned: BoolArray) -> bool:
    """Let all pods of a node go where the scheduler sends them; False if one of them would go where it must not."""
    problem = situation.problem
    rows = situation.rows_on[node]
    rest = [pod for pod in problem.movable[rows].tolist() if waves.now.placement.node_of[pod] == node]
    if len(rest) < len(rows):
        return False
    while rest:
        waiting = []
        for pod in rest:
            if not waves.may_leave(pod):
                waiting.append(pod)
                continue
            best = problem.prediction.best_nodes(pod, waves.now.placement)
            if not len(best) or shunned[best].any() or not waves.try_move(pod, int(best[0])):
                return False
        if not waves.close():
            return False
        rest = waiting
    return True


def _is_better(situation: Situation, schedule: Schedule, before: int) -> bool:
    if not keeps_limits(situation, schedule):
        return False
    sooner = solution_of(situation, Schedule(schedule.waves[:before]))
    return solution_of(situation, schedule).value > sooner.value


def by_cost(situation: Situation) -> list[int]:
    """Nodes that could be emptied, those first that cost the fewest evictions for what they are worth."""
    nodes = situation.candidates
    share = situation.pods_on[nodes] / situation.price[nodes]
    return [int(node) for node in nodes[np.lexsort((nodes, situation.harm[nodes], share))]]
