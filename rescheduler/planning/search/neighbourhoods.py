"""Takes some of the moves back and tries others in their place, again and again; keeps what is better."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.search.pairs import move_in_pairs
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.search.single_moves import DestinationChoice, move_one_by_one
from rescheduler.planning.waves.wave_packing import packed
from rescheduler.planning.waves.waves import GroupsOfPods

MOST_TAKEN_BACK = 12
MOST_STALE = 40
NOISE = 0.3
ROWS_IN_PAIRS = 6


class Neighbourhoods:
    """The best moves so far, and the search around them. ``floor``: cost that nothing can be below."""

    def __init__(
        self, current: SearchState, choice: DestinationChoice, groups: GroupsOfPods, seed: int, floor: float
    ) -> None:
        """Begin with the moves on the search state."""
        self._current = current
        self._choice = choice
        self._groups = groups
        self._draw = np.random.default_rng(seed)
        self._floor = floor
        self._best = list(current.moved.items())
        self._worth = self._measure()

    def search(self, deadline: Deadline, iterations: int) -> None:
        """At most so many rounds, fewer when nothing has been found for long; the state ends with the best moves."""
        stale = 0
        for _ in range(iterations):
            if deadline.is_over() or stale >= MOST_STALE or not self._best or self._is_unbeatable():
                break
            stale = 0 if self._round(deadline) else stale + 1
        self._current.reset(self._best)

    def _round(self, deadline: Deadline) -> bool:
        """Whether a better set of moves was found."""
        current = self._current
        for row in self._some_moves().tolist():
            if current.can_return(row):
                current.undo(row)
        noise = self._draw.uniform(1.0 - NOISE, 1.0 + NOISE, size=len(current.problem.movable))
        move_one_by_one(current, self._choice, deadline, noise=lambda row: float(noise[row]))
        if self._draw.random() < 0.3 and not self._choice.is_bound_to_prediction:
            move_in_pairs(current, deadline, most_rows=ROWS_IN_PAIRS)
        worth = self._measure()
        if worth < self._worth and current.is_guarded and self._has_order(deadline):
            self._best, self._worth = list(current.moved.items()), worth
            return True
        current.reset(self._best)
        return False

    def _some_moves(self) -> IntArray:
        """A move by chance, and others that left or reached its nodes, or any."""
        rows = np.array(list(self._current.moved), dtype=np.int64)
        count = int(self._draw.integers(1, 1 + min(MOST_TAKEN_BACK, len(rows))))
        first = int(self._draw.choice(rows))
        problem, at = self._current.problem, self._current.node_of
        related = (problem.origin[rows] == problem.origin[first]) | (at[rows] == at[first])
        weight = np.where(related, 5.0, 1.0)
        chosen: IntArray = self._draw.choice(rows, size=count, replace=False, p=weight / weight.sum())
        return chosen

    def _measure(self) -> tuple[float, int, float]:
        """Cost, evictions, and how dear the pods are: less is better."""
        current = self._current
        return round(current.cost / SAME) * SAME, len(current.moved), sum(map(current.weight, current.moved))

    def _is_unbeatable(self) -> bool:
        """No cost is lower; a floor above 0 comes from the limit on evictions, and so needs them all."""
        is_at_floor = self._worth[0] <= self._floor + SAME * max(1.0, abs(self._floor))
        return is_at_floor and (self._worth[1] <= 1 or self._floor > SAME)

    def _has_order(self, deadline: Deadline) -> bool:
        order = [(self._current.pod(row), node) for row, node in self._current.moved.items()]
        return packed(self._current.problem, self._groups, order, deadline) is not None
