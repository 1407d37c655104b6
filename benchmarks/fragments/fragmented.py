"""The problem of fragmented room as arrays: hosts with compartments, and kinds of items that lie in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray

Worth: TypeAlias = Callable[[IntArray], IntArray]
"""What free room (int64[..., R]) is worth, int64[...]: how many of a wanted shape fit, say. More room is never worth
less."""


@dataclass(frozen=True, eq=False)
class Fragmented:
    """H hosts of K compartments each (NUMA nodes, say; a plain node is one compartment), and T kinds of items.

    ``free``: int64[H, K, R]. ``request``: int64[T, R], what one item takes of a compartment. ``is_wide``: bool[T],
    kinds whose items take that of every compartment of their host at once. ``present``: int64[H, K, T], items that
    may be moved; a wide one counts in every compartment.
    """

    free: IntArray
    request: IntArray
    is_wide: BoolArray
    present: IntArray

    @property
    def narrow(self) -> IntArray:
        """Numbers of the kinds that lie in one compartment."""
        return np.flatnonzero(~self.is_wide)

    @property
    def wide(self) -> IntArray:
        """Numbers of the kinds that lie in all compartments."""
        return np.flatnonzero(self.is_wide)


def blocks_of(shape: IntArray) -> Worth:
    """How often a shape (int64[R], 0 where it asks for nothing) fits into free room; nothing fits in negative room."""
    asked = np.flatnonzero(shape > 0)

    def worth(free: IntArray) -> IntArray:
        often: IntArray = (free[..., asked] // shape[asked]).min(axis=-1).clip(min=0)
        return often

    return worth
