"""Turns the moves on a search state into waves; what finds no order, or would not come about, is taken back."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.search.single_moves import predicted
from rescheduler.planning.waves.scheduler_choice import send_in_waves
from rescheduler.planning.waves.wave_packing import as_far_as_possible, packed
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

_MOST_ROUNDS = 20


def arrange(
    current: SearchState, groups: GroupsOfPods, deadline: Deadline, *, only_predicted: bool
) -> tuple[WaveSchedule, int]:
    """Waves for the moves of a state, and how many moves had to be taken back; the state keeps what is in the waves.

    ``only_predicted``: the scheduler must choose each destination by itself, with nothing held.
    """
    before = len(current.moved)
    for _ in range(_MOST_ROUNDS):
        schedule = (_by_themselves if only_predicted else _packed)(current, groups, deadline)
        fewer = _keep(current, {pod for wave in schedule.waves for pod, _ in wave})
        if deadline.is_over() and current.is_guarded and current.cost < current.start_cost - SAME:
            return schedule, before - len(current.moved)  # what has an order so far is better than nothing
        if not take_back_what_does_not_pay(current) and (only_predicted or not fewer):
            if not current.is_guarded:
                break
            return schedule, before - len(current.moved)
    current.reset([])
    return WaveSchedule(), before


def try_other(current: SearchState, groups: GroupsOfPods, moves: Sequence[tuple[int, int]], deadline: Deadline) -> None:
    """Leave other moves (row, node) on the state if they keep the limits, have an order and cost less, else its own."""
    own, cost = list(current.moved.items()), (current.cost, len(current.moved))
    current.reset([])
    for row, node in moves:
        if current.may_leave(row):
            current.move(row, node)
    arrange(current, groups, deadline, only_predicted=False)
    is_better = current.cost < cost[0] - SAME or (current.cost <= cost[0] + SAME and len(current.moved) < cost[1])
    if not is_better:
        current.reset(own)


def take_back_what_does_not_pay(current: SearchState) -> bool:
    """Bring home every pod whose move does not lower the cost by more than its price, the latest first."""
    found = False
    for row in reversed(list(current.moved)):
        home = int(current.problem.origin[row])
        if current.state.change(row)[home] <= current.fee(row) + SAME and current.can_return(row):
            current.undo(row)
            found = True
    return found


def _packed(current: SearchState, groups: GroupsOfPods, deadline: Deadline) -> WaveSchedule:
    order = [(current.pod(row), node) for row, node in current.moved.items()]
    waves, rest = as_far_as_possible(current.problem, groups, order, deadline)
    if not rest or deadline.is_over():
        waves.close()
        return waves.schedule
    schedule = packed(current.problem, groups, order, deadline)
    if schedule is not None:
        return schedule
    waves, _ = as_far_as_possible(current.problem, groups, order, deadline, may_exchange=True)
    waves.close()
    return waves.schedule


def _keep(current: SearchState, pods: set[int]) -> bool:
    """Take back the moves of all other pods, the latest first; whether there were any."""
    others = [row for row in current.moved if current.pod(row) not in pods]
    for row in reversed(others):
        current.undo(row)
    return bool(others)


def _by_themselves(current: SearchState, groups: GroupsOfPods, deadline: Deadline) -> WaveSchedule:
    """Waves in which the scheduler, with nothing held, sends every pod to a node that gains; the state moves along.

    It may choose other nodes than on the search state, since pods of one wave hold both their nodes until it is over.
    """
    rows = list(current.moved)
    current.reset([])
    problem, waves = current.problem, Waves(current.problem, groups)

    def chosen(pod: int) -> int | None:
        step = predicted(current, problem.row_of_movable[pod], waves.now.placement)
        return None if step is None else step.node

    def moved(pod: int, node: int) -> None:
        current.move(problem.row_of_movable[pod], node)

    send_in_waves(waves, [current.pod(row) for row in rows], chosen, deadline, on_move=moved)
    return waves.schedule
