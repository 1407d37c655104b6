"""Times of one call, many times over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import NamedTuple


class Times(NamedTuple):
    """Seconds of a single call."""

    median: float
    least: float


def timed(calls: Iterable[Callable[[], object]]) -> Times:
    """Each call timed by itself."""
    seconds = []
    for call in calls:
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return Times(median(seconds), min(seconds))
