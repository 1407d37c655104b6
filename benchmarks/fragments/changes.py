"""What may happen to one compartment at once: up to so many items leave it, and up to so many come."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Changes:
    """All changes by number; the first is: nothing happens.

    ``departures``, ``arrivals``: int64[C, T]; no kind both leaves and comes. ``freed``: int64[C, R].
    """

    departures: IntArray
    arrivals: IntArray
    freed: IntArray

    @property
    def net(self) -> IntArray:
        """Departures less arrivals, int64[C, T]."""
        return self.departures - self.arrivals

    @property
    def moves(self) -> IntArray:
        """Departures of each change, int64[C]: a move is counted where it begins."""
        counts: IntArray = self.departures.sum(axis=1)
        return counts

    def possible(self, free: IntArray, present: IntArray) -> BoolArray:
        """Which changes a compartment with this room (int64[U, R]) and these items (int64[U, T]) allows, bool[U, C]."""
        has_items = (present[:, None, :] >= self.departures[None]).all(axis=2)
        has_room = (free[:, None, :] + self.freed[None] >= 0).all(axis=2)
        return np.logical_and(has_items, has_room)


def changes_of(request: IntArray, kinds: IntArray, most_departures: int, most_arrivals: int) -> Changes:
    """Changes that involve some ``kinds`` only."""
    leaving = _multisets(kinds, most_departures, len(request))
    coming = _multisets(kinds, most_arrivals, len(request))
    departures = np.repeat(leaving, len(coming), axis=0)
    arrivals = np.tile(coming, (len(leaving), 1))
    is_sensible = ~((departures > 0) & (arrivals > 0)).any(axis=1)
    departures, arrivals = departures[is_sensible], arrivals[is_sensible]
    return Changes(departures, arrivals, (departures - arrivals) @ request)


def _multisets(kinds: IntArray, most: int, width: int) -> IntArray:
    rows = [
        np.bincount(np.array(chosen, dtype=np.int64), minlength=width)
        for size in range(most + 1)
        for chosen in combinations_with_replacement(kinds.tolist(), size)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, width)
