"""How raw scores become 0 to 100, in kube-scheduler's integer arithmetic."""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray

MAX_SCORE: Final = 100


def by_largest(raw: IntArray, feasible: BoolArray, *, is_reversed: bool = False) -> IntArray:
    """Share of the largest raw score among feasible nodes, truncated; reversed: 100 less that.

    If the largest is 0, scores stay as they are, or are all 100 when reversed.
    """
    largest = int(raw[feasible].max(initial=0))
    if largest == 0:
        return np.full_like(raw, MAX_SCORE) if is_reversed else raw
    scaled = MAX_SCORE * raw // largest
    return MAX_SCORE - scaled if is_reversed else scaled


def between_extremes(raw: IntArray, feasible: BoolArray) -> IntArray:
    """0 for the least and 100 for the largest raw score among feasible nodes, all 0 when equal."""
    among = raw[feasible]
    if not among.size:
        return np.zeros_like(raw)
    least, largest = int(among.min()), int(among.max())
    if least == largest:
        return np.zeros_like(raw)
    # A division in floating point before the multiplication, as in the scheduler: 100 * (29 / 100) truncates to 28.
    scaled: IntArray = (MAX_SCORE * ((raw - least) / (largest - least))).astype(np.int64)
    return scaled
