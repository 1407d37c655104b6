"""What arriving pods are worth that fit into a room together: an unbounded knapsack for many rooms at once.

By a grid over one or two resources. Sizes are rounded down and rooms, too, for a bound: what fits in truth still fits.
For a plan sizes are rounded up. A room beyond the grid in one resource counts by the other alone.
"""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray

CELLS, CELLS_OF_BOUND = 112, 300
_LEAST_SHARE, _MOST_SHARE = 0.33, 0.46
"""Of the cells, that the largest pending pod may take."""
_NOISE = 1e-9


class PackingWorth:
    """The knapsacks of S rooms for classes that ask for ``asked`` (int64[C, k], k one or two resources)."""

    def __init__(self, asked: IntArray, room: IntArray, largest: IntArray, *, is_bound: bool) -> None:
        """``room``: int64[S, k]; ``largest``: int64[k], what the grid is made for."""
        if asked.shape[1] == 1:  # a second resource of which all have enough
            asked, room = np.column_stack([asked, asked]), np.column_stack([room, room])
            largest = np.concatenate([largest, largest])
        self._size = CELLS_OF_BOUND if is_bound else CELLS
        unit = np.array(
            [_unit(amounts, most, is_bound=is_bound) for amounts, most in zip(asked.T, largest, strict=True)]
        )
        self.weights = asked // unit if is_bound else -(-asked // unit)
        cells = np.maximum(room, 0) // unit if is_bound else room // unit
        self.is_possible: BoolArray = (cells >= 0).all(axis=1)
        cells = np.maximum(cells, 0)
        over = cells >= self._size
        alone = np.where(over[:, 1] & ~over[:, 0], 0, np.where(over[:, 0] & ~over[:, 1], 1, cells.argmin(axis=1)))
        self._alone = np.where(over.any(axis=1), alone, -1)
        self._cells = cells
        self._long = [int(cells[self._alone == resource, resource].max(initial=-1)) + 1 for resource in range(2)]
        self._last = np.zeros((self._size, self._size), dtype=np.int64)
        self._last_alone: list[IntArray] = []

    @property
    def has_weight(self) -> BoolArray:
        """Classes that take something of both resources by the grid, bool[C]; others may not be worth anything."""
        return np.asarray((self.weights > 0).all(axis=1))

    def best(self, worth: FloatArray) -> FloatArray:
        """The most that pods in each room are worth, float64[S], where one of class c is worth ``worth[c]``."""
        order = [number for number in np.argsort(-worth, kind="stable").tolist() if worth[number] > 0]
        both, self._last = self._both(worth, order)
        alone = [self._one(worth, order, resource) for resource in range(2)]
        self._last_alone = [last for _, last in alone]
        first, second = np.minimum(self._cells, self._size - 1).T
        found = both[first, second]
        for resource in range(2):
            rooms = self._alone == resource
            found[rooms] = alone[resource][0][self._cells[rooms, resource]]
        return np.asarray(np.where(self.is_possible, found, 0.0))

    def packed(self, room: int) -> IntArray:
        """The pods behind the last answer for one room, by class, int64[C]."""
        counts = np.zeros(len(self.weights), dtype=np.int64)
        left = self._cells[room].copy()
        resource = int(self._alone[room])
        if not self.is_possible[room]:
            return counts
        while True:
            kind = int(self._last[left[0], left[1]] if resource < 0 else self._last_alone[resource][left[resource]])
            if kind < 0:
                return counts
            counts[kind] += 1
            left -= self.weights[kind]

    def _both(self, worth: FloatArray, order: list[int]) -> tuple[FloatArray, IntArray]:
        size = self._size
        best, last = np.zeros((size, size)), np.full((size, size), -1, dtype=np.int64)
        for kind in order:
            first, second = self.weights[kind].tolist()
            if first >= size or second >= size:
                continue
            while True:
                with_one = best[: size - first, : size - second] + worth[kind]
                better = with_one > best[first:, second:]
                if not better.any():
                    break
                best[first:, second:][better] = with_one[better]
                last[first:, second:][better] = kind
        return best, last

    def _one(self, worth: FloatArray, order: list[int], resource: int) -> tuple[FloatArray, IntArray]:
        length = self._long[resource]
        best, last = np.zeros(length), np.full(length, -1, dtype=np.int64)
        for kind in order:
            weight = int(self.weights[kind, resource])
            for start in range(weight, length, weight):
                end = min(length, start + weight)
                with_one = best[start - weight : end - weight] + worth[kind]
                better = with_one > best[start:end]
                best[start:end][better] = with_one[better]
                last[start:end][better] = kind
        return best, last


def _unit(amounts: IntArray, largest: int, *, is_bound: bool) -> int:
    """The cell by which pods as large as pending ones lose least in rounding."""
    grid = CELLS_OF_BOUND if is_bound else CELLS
    cells = range(int(_LEAST_SHARE * grid), int(_MOST_SHARE * grid))
    units = [-(-int(largest) // number) for number in cells]
    sizes = amounts[2 * amounts > largest]

    def loss(unit: int) -> float:
        rounded = sizes // unit if is_bound else -(-sizes // unit)
        return float((np.abs(rounded * unit - sizes) / sizes).sum())

    return max(1, min(units, key=loss))
