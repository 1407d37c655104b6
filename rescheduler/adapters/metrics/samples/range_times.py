"""The regular times of a history: whole multiples of the step, in pieces that one answer can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, floor
from typing import TypeVar

import numpy as np

from rescheduler.extension_points import MetricsError
from rescheduler.model.usage.usage import FloatArray

# Metrics that a sample can do without: where they cannot be read, a warning takes their place.

T = TypeVar("T")


def unless_refused(what: str, read: Callable[[], T], warn: Callable[[str], None]) -> T | None:
    """What ``read`` gives; None and a warning where it raises MetricsError: cpu and memory are worth more."""
    try:
        return read()
    except MetricsError as error:
        warn(f"{what} is left out: {error}")
        return None


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
