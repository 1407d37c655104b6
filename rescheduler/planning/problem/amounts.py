"""Amounts in bytes and millicores as small whole numbers that solvers like.

A row whose amounts share a divisor is divided by it, which loses nothing: sums of multiples fit a room exactly if
they fit the room rounded down. Where that is not small enough the row is rounded, so that a plan found in the rounded
numbers always fits in reality (requests up, room down), or, for bounds, the opposite way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray

# Whether a request fits into the room of nodes.


def fits(request: IntArray, room: IntArray) -> BoolArray:
    """Nodes whose ``room`` (int64[R, N]) covers a request (int64[R]), bool[N]; what is not asked for is not checked."""
    asked = np.flatnonzero(request)
    return np.asarray((room[asked] >= request[asked, None]).all(axis=0))


LARGEST_SCALED = 2**31


@dataclass(frozen=True)
class AmountScale:
    """Divisor of each row, int64[R], and whether nothing is lost by it."""

    units: IntArray
    is_exact: bool

    def up(self, amounts: IntArray) -> IntArray:
        """Divide (int64[R, n]) and round up."""
        return -(-amounts // self.units[:, None])

    def down(self, amounts: IntArray) -> IntArray:
        """Divide (int64[R, n]) and round down."""
        return amounts // self.units[:, None]


def scale_for(amounts: IntArray, room: IntArray) -> AmountScale:
    """Choose divisors for what pods ask for and hold (int64[R, n]) and for the room of nodes (int64[R, N])."""
    rows = len(room)
    units = np.ones(rows, dtype=np.int64)
    is_exact = True
    for row in range(rows):
        divisor = int(np.gcd.reduce(amounts[row])) if amounts.shape[1] else 1
        divisor = max(1, divisor)
        largest = max(int(np.abs(room[row]).max(initial=0)), int(amounts[row].max(initial=0))) // divisor
        if largest > LARGEST_SCALED:
            divisor = -(-largest * divisor // LARGEST_SCALED)
            is_exact = False
        units[row] = divisor
    return AmountScale(units, is_exact)
