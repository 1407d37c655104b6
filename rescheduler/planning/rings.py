"""Finds, among moves that wait for each other's room, a small group whose pods can change places all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.planning.arrivals import Arrivals

Moves = Sequence[tuple[int, int]]
MOST_TRIED_IN_ALL_WAYS = 8
MOST_STARTS = 200
LARGEST_RING = 60


def find_ring(now: Arrivals, waiting: Moves, is_possible: Callable[[Moves], bool]) -> Moves | None:
    """The smallest group found for which ``is_possible``; None if there is none, or none was found.

    ``waiting``: the moves that are left. Of a few moves every group is tried, smaller ones first; of many, rings that
    grow from one move until all that come find room.
    """
    if len(waiting) <= MOST_TRIED_IN_ALL_WAYS:
        groups = (group for number in range(2, len(waiting) + 1) for group in combinations(waiting, number))
        return next(filter(is_possible, groups), None)
    best: Moves | None = None
    for move in waiting[:MOST_STARTS]:
        ring = _grown(now, move, waiting)
        if ring is not None and (best is None or len(ring) < len(best)) and is_possible(ring):
            best = ring
    if best is None and len(waiting) <= LARGEST_RING and is_possible(waiting):
        best = waiting
    return None if best is None else _without_needless(best, is_possible)


def _grown(now: Arrivals, move: tuple[int, int], waiting: Moves) -> list[tuple[int, int]] | None:
    """The move with others that make room for it, and for each other; None where that does not work out."""
    problem, placement = now.problem, now.placement
    ring = [move]
    chosen = {move[0]}
    room: dict[int, IntArray] = {}

    def add(pod: int, target: int) -> None:
        origin = int(placement.node_of[pod])
        for node in (origin, target):
            if node not in room:
                room[node] = placement.columns.allocatable[:, node] - placement.used[:, node]
        room[origin] = room[origin] + placement.held_at(pod, origin)
        room[target] = room[target] - problem.request_of(pod)

    add(*move)
    while len(ring) <= LARGEST_RING:
        crowded = next((node for _, node in ring if (room[node] < 0).any()), None)
        if crowded is None:
            return ring if len(ring) > 1 else None
        leaving = [item for item in waiting if item[0] not in chosen and placement.node_of[item[0]] == crowded]
        if not leaving:
            return None
        homes = {int(placement.node_of[pod]) for pod, _ in ring}
        lacking = np.maximum(0, -room[crowded])

        def rank(item: tuple[int, int], lacking: IntArray = lacking, homes: set[int] = homes) -> tuple[bool, bool, int]:
            held = placement.held_at(item[0], int(placement.node_of[item[0]]))
            return bool((held < lacking).any()), item[1] not in homes, int(held[0])

        following = min(leaving, key=rank)
        add(*following)
        ring.append(following)
        chosen.add(following[0])
    return None


def _without_needless(ring: Moves, is_possible: Callable[[Moves], bool]) -> Moves:
    """The ring without moves that the others do not need."""
    kept = list(ring)
    for move in ring:
        fewer = [item for item in kept if item != move]
        if len(fewer) > 1 and is_possible(fewer):
            kept = fewer
    return kept
