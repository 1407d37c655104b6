"""The best change of every host for given prices: one of wide items, and one of each compartment beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.fragments.changes import Changes, changes_of
from benchmarks.fragments.fragmented import Fragmented, Worth
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray

_MOST_NARROW = 2
_MOST_WIDE = 1
IMPOSSIBLE = -1e9


class HostChange(NamedTuple):
    """A column: what happens to one host. ``narrow``: number of the change of each compartment."""

    host: int
    wide: int
    narrow: tuple[int, ...]


@dataclass(frozen=True)
class Prices:
    """Duals of the master: of one move, and of one item of each kind (float64[T]) that leaves."""

    move: float
    kind: FloatArray


class HostChanges:
    """Columns of the master, made where they are worth their price.

    Compartments that look alike (room, items up to the number that may leave at once) are looked at once.
    """

    def __init__(self, problem: Fragmented, worth: Worth) -> None:
        """Enumerate changes, and the different looks of compartments after each wide change."""
        self.problem = problem
        self.narrow = changes_of(problem.request, problem.narrow, _MOST_NARROW, _MOST_NARROW)
        self.wide: Changes = changes_of(problem.request, problem.wide, _MOST_WIDE, _MOST_WIDE)
        self.base: IntArray = worth(problem.free).sum(axis=1)
        self._find_looks()
        after = self._look_free[:, None, :] + self.narrow.freed[None]
        self._possible = self.narrow.possible(self._look_free, self._look_present)
        self._worth: IntArray = worth(after)

    def _find_looks(self) -> None:
        problem = self.problem
        hosts, compartments, resources = problem.free.shape
        has_items = (problem.present[:, 0, None, :] >= self.wide.departures[None]).all(axis=2)  # bool[H, W]
        host, wide = np.nonzero(has_items)
        free = problem.free[host] + self.wide.freed[wide][:, None, :]
        present = np.minimum(problem.present[host], _MOST_NARROW)
        present[:, :, problem.wide] = 0
        looks = np.concatenate((free, present), axis=2).reshape(len(host) * compartments, -1)
        unique, number = np.unique(looks, axis=0, return_inverse=True)
        self._look_free, self._look_present = unique[:, :resources], unique[:, resources:]
        self.look_of: IntArray = np.full((hosts, len(self.wide.moves), compartments), -1, dtype=np.int64)
        self.look_of[host, wide] = number.reshape(len(host), compartments)

    def best(self, prices: Prices) -> tuple[FloatArray, IntArray]:
        """Value less price of each host's best column for each wide change, float64[H, W], and the narrow changes.

        The second array, int64[looks], has the best narrow change of each look.
        """
        paid = self.narrow.net @ prices.kind - prices.move * self.narrow.moves
        value = np.where(self._possible, self._worth + paid, IMPOSSIBLE)
        chosen: IntArray = value.argmax(axis=1)
        best = value[np.arange(len(value)), chosen]
        total = np.where(self.look_of >= 0, best[self.look_of], IMPOSSIBLE).sum(axis=2)
        total = total + self.wide.net @ prices.kind - prices.move * self.wide.moves - self.base[:, None]
        return total, chosen

    def singles(self) -> Iterator[HostChange]:
        """Columns in which one item leaves or comes: with them the master can begin."""
        nothing = (0,) * self.problem.free.shape[1]
        one = np.flatnonzero(self.narrow.departures.sum(axis=1) + self.narrow.arrivals.sum(axis=1) == 1)
        for host in range(len(self.problem.free)):
            for compartment, look in enumerate(self.look_of[host, 0].tolist()):
                for change in one[self._possible[look, one]].tolist():
                    narrow = (*nothing[:compartment], change, *nothing[compartment + 1 :])
                    yield HostChange(host, 0, narrow)
            for wide in range(1, len(self.wide.moves)):
                looks = self.look_of[host, wide]
                if looks[0] >= 0 and self._possible[looks, 0].all():
                    yield HostChange(host, wide, nothing)

    def worth_of(self, column: HostChange) -> int:
        """What the host's room is worth more after the change."""
        looks = self.look_of[column.host, column.wide]
        return int(self._worth[looks, list(column.narrow)].sum() - self.base[column.host])

    def moves_of(self, column: HostChange) -> int:
        """Items that leave the host's compartments."""
        return int(self.wide.moves[column.wide] + self.narrow.moves[list(column.narrow)].sum())

    def net_of(self, column: HostChange) -> IntArray:
        """Items by kind that leave, less those that come, int64[T]."""
        net: IntArray = self.wide.net[column.wide] + self.narrow.net[list(column.narrow)].sum(axis=0)
        return net
