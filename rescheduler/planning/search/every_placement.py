"""Tiny questions: every placement that moves can lead to, one after the other, is looked at."""

from __future__ import annotations

from collections import deque
from math import log
from typing import Final

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.search.search_state import SAME, SearchState

MOST_PLACEMENTS: Final = 729
"""Three nodes and six pods: some tenths of a second."""
ROUNDING: Final = 1e-9


def is_tiny(current: SearchState) -> bool:
    """Whether there are so few placements that each can be looked at."""
    nodes, pods = current.problem.node_count, len(current.problem.movable)
    return nodes > 1 and pods * log(nodes) <= log(MOST_PLACEMENTS) + ROUNDING


def cheapest_placement(current: SearchState, deadline: Deadline) -> list[tuple[int, int]]:
    """Moves (row, node), in an order in which each is possible, to the cheapest placement of the fewest moves.

    Looked for breadth first, as long as there is time; the state is left with nobody moved.
    """
    best: list[tuple[int, int]] = []
    least = current.start_cost
    seen: set[frozenset[tuple[int, int]]] = {frozenset()}
    waiting: deque[list[tuple[int, int]]] = deque([[]])
    while waiting and not deadline.is_over():
        order = waiting.popleft()
        current.reset(order)
        if current.cost < least - SAME and current.is_guarded:
            best, least = order, current.cost
        for row in range(len(current.problem.movable)):
            if current.may_leave(row):
                for node in current.open_to(row).nonzero()[0].tolist():
                    placement = frozenset([*order, (row, node)])
                    if placement not in seen:
                        seen.add(placement)
                        waiting.append([*order, (row, node)])
    current.reset([])
    return best
