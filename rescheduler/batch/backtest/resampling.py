"""Means with an interval by circular block bootstrap, which draws neighbours in time together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

RESAMPLES: Final = 2000
DIGITS: Final = 6
_TAILS: Final = (2.5, 97.5)


class Interval(NamedTuple):
    """The mean of some values, and the interval that holds it in 95 of 100 resamples; None: there are no values."""

    mean: float | None
    low: float | None
    high: float | None


def interval(values: Sequence[float], seed: int) -> Interval:
    """The mean and its interval; the same values and seed give the same."""
    if not values:
        return Interval(None, None, None)
    numbers = np.asarray(values, dtype=float)
    count = len(numbers)
    block = max(1, round(count ** (1 / 3)))
    starts = np.random.default_rng(seed).integers(count, size=(RESAMPLES, -(-count // block)))
    drawn = (starts[:, :, None] + np.arange(block)).reshape(RESAMPLES, -1)[:, :count] % count
    low, high = np.percentile(numbers[drawn].mean(axis=1), _TAILS)
    return Interval(*(round(float(one), DIGITS) for one in (numbers.mean(), low, high)))
