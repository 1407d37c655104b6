"""Chooses between what the scheduler does by itself with the pods of emptied nodes and the planner's own seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice, close, guided_moves, send_in_waves
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

# Sends the pods of emptied nodes where the scheduler would send them by itself while those nodes are closed.


def followed(
    situation: EmptyingSituation,
    groups: GroupsOfPods,
    pods: Sequence[int],
    is_closed: BoolArray,
    packed: Mapping[int, int],
    deadline: Deadline,
) -> WaveSchedule | None:
    """Waves in which every pod goes where the scheduler likes it best; None where somebody finds no place.

    ``packed``: pods that go to these nodes all the same, before the others.
    """
    problem = situation.problem
    waves = Waves(problem, groups)
    close(waves.now.placement, np.flatnonzero(is_closed))

    def chosen(pod: int) -> int | None:
        best = [packed[pod]] if pod in packed else SchedulerChoice(problem, waves.now.placement).best(pod)
        return next((node for node in best if node != situation.start.node_of[pod]), None)

    order = sorted(pods, key=lambda pod: pod not in packed)
    return None if send_in_waves(waves, order, chosen, deadline) else waves.schedule


# Nodes that empty by the scheduler's own choice, with nothing held: rare where it prefers the emptiest node.


def emptied_without_holds(
    situation: EmptyingSituation, groups: GroupsOfPods, order: Sequence[int], deadline: Deadline
) -> Solution:
    """Empty nodes in this order, each only if the scheduler would send none of its pods back, or to an emptied one."""
    waves = Waves(situation.problem, groups)
    shunned = situation.is_empty.copy()
    for node in order:
        if deadline.is_over():
            break
        kept, count = waves.now.copy(), len(waves.done)
        shunned[node] = True
        if not _empties(situation, waves, node, shunned, deadline) or not _is_better(situation, waves.schedule, count):
            shunned[node] = False
            waves.rewind(kept, count)
    return solution_of(situation, waves.schedule)


def _empties(situation: EmptyingSituation, waves: Waves, node: int, shunned: BoolArray, deadline: Deadline) -> bool:
    """Let all pods of a node go where the scheduler sends them; False if one of them would go where it must not."""
    problem = situation.problem
    rows = situation.rows_on[node]
    rest = [pod for pod in problem.movable[rows].tolist() if waves.now.placement.node_of[pod] == node]
    if len(rest) < len(rows):
        return False

    def chosen(pod: int) -> int | None:
        best = SchedulerChoice(problem, waves.now.placement).best(pod)
        return None if not best or shunned[best].any() else best[0]

    return not send_in_waves(waves, rest, chosen, deadline)


def _is_better(situation: EmptyingSituation, schedule: WaveSchedule, before: int) -> bool:
    if not keeps_limits(situation, schedule):
        return False
    sooner = solution_of(situation, WaveSchedule(schedule.waves[:before]))
    return solution_of(situation, schedule).value > sooner.value


def by_cost(situation: EmptyingSituation) -> list[int]:
    """Nodes that could be emptied, those first that cost the fewest evictions for what they are worth."""
    nodes = situation.candidates
    share = situation.pods_on[nodes] / situation.price[nodes]
    return [int(node) for node in nodes[np.lexsort((nodes, situation.harm[nodes], share))]]


_PACKED_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75)
_MOST_FOLLOWED = 20_000
_MOST_REPLAYED = 2_000


def with_destinations(
    situation: EmptyingSituation, groups: GroupsOfPods, found: Solution, deadline: Deadline, *, closes_empty: bool
) -> Solution:
    """The same nodes emptied with as few guided moves as a few trials give; the moves that need guidance are marked.

    In each trial the largest pods keep their seats, more of them each time, and the scheduler chooses for the others.
    """
    if not found.emptied:
        return Solution()
    is_closed = np.zeros(situation.node_count, dtype=np.bool_)
    is_closed[list(found.emptied)] = True
    if closes_empty:
        is_closed |= situation.is_empty
    if found.evictions <= _MOST_FOLLOWED:
        for share in _PACKED_SHARES:
            if deadline.is_over():
                break
            trial = _trial(situation, groups, found, is_closed, share, deadline.part(0.3))
            if trial is not None:
                return trial
    return replace(found, guided=_guided(situation, found.schedule, is_closed, deadline))


def _trial(
    situation: EmptyingSituation,
    groups: GroupsOfPods,
    found: Solution,
    is_closed: BoolArray,
    share: float,
    deadline: Deadline,
) -> Solution | None:
    seats = found.schedule.draft.moves
    pods = _largest_first(situation, [pod for pod in seats if is_closed[situation.start.node_of[pod]]])
    displaced = [pod for pod in seats if not is_closed[situation.start.node_of[pod]]]
    if share and displaced:  # whose seats depend on each other's
        return None
    packed = {pod: seats[pod] for pod in pods[: round(share * len(pods))]}
    schedule = followed(situation, groups, pods, is_closed, packed, deadline)
    if schedule is None or not keeps_limits(situation, schedule):
        return None
    trial = solution_of(situation, schedule)
    if trial.value < found.value or (trial.evictions <= _MOST_REPLAYED and replay(situation.problem, schedule)):
        return None
    if not packed:
        return trial
    return replace(trial, guided=_guided(situation, schedule, is_closed, deadline))


def _guided(
    situation: EmptyingSituation, schedule: WaveSchedule, is_closed: BoolArray, deadline: Deadline
) -> frozenset[int]:
    placement = situation.start.copy()
    close(placement, np.flatnonzero(is_closed))
    return guided_moves(situation.problem, placement, schedule, deadline)


def _largest_first(situation: EmptyingSituation, pods: list[int]) -> list[int]:
    problem = situation.problem
    capacity = np.maximum(1, problem.columns.allocatable.mean(axis=1))
    size = {pod: float((problem.request_of(pod) / capacity).max()) for pod in pods}
    return sorted(pods, key=lambda pod: (not problem.is_entangled(pod), -size[pod], pod))
