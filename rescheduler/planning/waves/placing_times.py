"""Finds, for waves of moves, the earliest wave at whose end each pending pod's place is free for good."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals

Waves = Sequence[Sequence[tuple[int, int]]]


def settle_places(
    problem: Problem, waves: Waves, places: Mapping[int, int], evict_first: Collection[int] = ()
) -> WaveSchedule | None:
    """Give each pending pod its wave; None if the places do not all work out after the last wave.

    A pod for which room is all that counts gets the earliest wave after which its node keeps room for it; the others
    wait for the last wave unless they, too, could go at once. ``evict_first``: numbers (from 1) of the waves in which
    all leave before any arrives.
    """
    last = len(waves)
    order = _order_after_the_last_wave(problem, waves, places)
    if order is None:
        return None
    room = _room_over_time(problem, waves, sorted(set(places.values())), evict_first)
    when: dict[int, int] = {}
    for pod in order:
        if problem.is_entangled(pod):
            when[pod] = last
            _take(room[places[pod]], problem.request_of(pod), last)
    for pod in order:
        if not problem.is_entangled(pod):
            request = problem.request_of(pod)
            when[pod] = _earliest(room[places[pod]], request, last)
            _take(room[places[pod]], request, when[pod])
    ordered = sorted(order, key=lambda pod: when[pod])  # stable: the order found above within a wave
    timed = tuple((pod, places[pod], when[pod]) for pod in ordered)
    return WaveSchedule(tuple(map(tuple, waves)), timed, frozenset(evict_first))


def _order_after_the_last_wave(problem: Problem, waves: Waves, places: Mapping[int, int]) -> list[int] | None:
    state = Arrivals(problem)
    for wave in waves:
        for pod, node in wave:
            state.placement.move(pod, node)
        state.placement.settle()
    order: list[int] = []
    waiting = [pod for pod in problem.pending if pod in places]
    while waiting:
        placed = [pod for pod in waiting if _place(state, pod, places[pod])]
        if not placed:
            return None
        order += placed
        waiting = [pod for pod in waiting if pod not in placed]
    return order


def _place(state: Arrivals, pod: int, node: int) -> bool:
    if not state.can_arrive(pod, node):
        return False
    state.placement.assume(pod, node)
    return True


def _room_over_time(
    problem: Problem, waves: Waves, nodes: Sequence[int], evict_first: Collection[int]
) -> dict[int, IntArray]:
    """Room of each node after wave w and in every moment until the end, int64[waves + 1, R]: the least from then on."""
    placement = problem.start.copy()
    columns = placement.columns
    after = {node: [columns.allocatable[:, node] - placement.used[:, node]] for node in nodes}
    during: dict[int, list[IntArray]] = {node: [] for node in nodes}
    for number, wave in enumerate(waves, start=1):
        for pod, node in wave:
            placement.move(pod, node)
        if number in evict_first:
            placement.settle()
        for node in nodes:
            during[node].append(columns.allocatable[:, node] - placement.used[:, node])
        placement.settle()
        for node in nodes:
            after[node].append(columns.allocatable[:, node] - placement.used[:, node])
    least: dict[int, IntArray] = {}
    for node in nodes:
        rows = np.array(after[node])
        for number in reversed(range(len(waves))):
            rows[number] = np.minimum(np.minimum(rows[number], during[node][number]), rows[number + 1])
        least[node] = rows
    return least


def _earliest(room: IntArray, request: IntArray, last: int) -> int:
    for wave in range(last):
        if ((request <= room[wave]) | (request == 0)).all():
            return wave
    return last


def _take(room: IntArray, request: IntArray, wave: int) -> None:
    room[wave:] -= request
