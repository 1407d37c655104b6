"""The regular times of a history: whole multiples of the step, in pieces that one answer can hold."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

import numpy as np

from rescheduler.model.usage import FloatArray

MOST_TIMES = 100_000


def range_times(start: float, end: float, step_seconds: float) -> FloatArray:
    """Times from ``start`` to ``end``, both included where they fall on the step (whole seconds, 1 s at least).

    Raises ValueError for more than MOST_TIMES of them.
    """
    step = max(1.0, float(round(step_seconds)))
    first, last = ceil(start / step), floor(end / step)
    if last - first >= MOST_TIMES:
        raise ValueError(f"{last - first + 1} times from {start:g} to {end:g}, wanted {MOST_TIMES} at most")
    return np.arange(first, last + 1, dtype=float) * step


def pieces(count: int, most: int) -> Iterator[tuple[int, int]]:
    """``count`` things in runs of ``most``: first index, and the one after the last."""
    for first in range(0, count, most):
        yield first, min(first + most, count)
