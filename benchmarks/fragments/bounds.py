"""The most that any changes within a limit of moves can be worth, by Lagrangian relaxation.

Prices of the column generation charge each move and each item; what one host can win at these prices, with any number
of departures and arrivals, is found by dynamic programming over the one resource that is worth something. All other
resources are left out, which only raises the bound.
"""

from __future__ import annotations

import numpy as np

from benchmarks.fragments.fragmented import Fragmented
from benchmarks.fragments.host_changes import Prices
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline

_LARGEST_CAPACITY = 4096


def most_gain(
    problem: Fragmented, resource: int, block: int, most_moves: int, prices: Prices, deadline: Deadline
) -> int | None:
    """Upper bound of the gain in whole blocks of one resource; None where amounts are too fine, or time too short."""
    if (problem.request[:, resource] <= 0).any():
        return None  # any number of them could come, so that prices of theirs would bound nothing
    held = np.einsum("hkt,t->hk", problem.present, problem.request[:, resource])
    capacity = int((problem.free[..., resource].clip(min=0) + held).max(initial=0))
    if capacity > _LARGEST_CAPACITY or problem.free[..., resource].min(initial=0) < 0:
        return None
    size = problem.request[:, resource]
    total = prices.move * most_moves
    for free, present in zip(problem.free[..., resource], problem.present, strict=True):
        if deadline.is_over():
            return None
        wide = _best_changes(size, present[0], problem.wide, prices, capacity)
        best = -np.inf
        narrow = [_best_changes(size, items, problem.narrow, prices, capacity) for items in present]
        for shift in np.flatnonzero(np.isfinite(wide)) - capacity:
            won = wide[shift + capacity]
            for room, change in zip(free, narrow, strict=True):
                won += _most_of_compartment(int(room + shift), change, block, capacity)
            best = max(best, won)
        total += max(0.0, best - float((free // block).sum()))
    return int(np.floor(total + 1e-6))


def most_gain_of_anything(problem: Fragmented, resource: int, block: int, most_moves: int) -> int:
    """A bound that needs no prices: all room in one place, and no more than the largest item frees in each move."""
    free = problem.free[..., resource].clip(min=0)
    spare = int(free.sum() // block - (free // block).sum())
    places = np.where(problem.is_wide, free.shape[1], 1)
    largest = int((places * -(-problem.request[:, resource] // block)).max(initial=0))
    return min(spare, largest * most_moves)


def _best_changes(size: IntArray, present: IntArray, kinds: IntArray, prices: Prices, capacity: int) -> FloatArray:
    """Most that departures and arrivals of these kinds pay by the room they free, float64[2 * capacity + 1]."""
    best = np.full(2 * capacity + 1, -np.inf)
    best[capacity] = 0.0
    for kind in kinds.tolist():
        amount = int(size[kind])
        for _ in range(int(present[kind])):
            best = np.maximum(best, _shifted(best, amount) + prices.kind[kind] - prices.move)
        for _ in range(capacity // amount if amount else 0):
            best = np.maximum(best, _shifted(best, -amount) - prices.kind[kind])
    return best


def _shifted(values: FloatArray, by: int) -> FloatArray:
    moved = np.full_like(values, -np.inf)
    if by >= 0:
        moved[by:] = values[: len(values) - by]
    else:
        moved[:by] = values[-by:]
    return moved


def _most_of_compartment(room: int, change: FloatArray, block: int, capacity: int) -> float:
    after = room + np.arange(-capacity, capacity + 1)
    return float(np.where(after >= 0, after // block + change, -np.inf).max())
