"""Consecutive samples of each node, whatever ticks lie between them without one."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage import FloatArray


def carried(values: FloatArray) -> FloatArray:
    """Each gap filled with the newest earlier value of its column, float64[T, N]; NaN where there is none."""
    if not values.size:
        return values
    rows = np.where(np.isfinite(values), np.arange(len(values))[:, None], 0)
    filled: FloatArray = np.take_along_axis(values, np.maximum.accumulate(rows, axis=0), axis=0)
    return filled


def steps(values: FloatArray) -> FloatArray:
    """What each sample adds to the one before it, float64[T-1, N]; NaN where there is no sample or none before it."""
    if len(values) < 2:
        return values[:0]
    return np.asarray(values[1:] - carried(values)[:-1])
