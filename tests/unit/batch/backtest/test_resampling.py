"""Intervals by block bootstrap, and what is compared."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.batch.backtest.resampling import interval
from rescheduler.report.backtest.page import pareto

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


@given(values, st.integers(0, 100))
def test_the_interval_holds_the_mean_and_lies_within_the_values(found: list[float], seed: int) -> None:
    """Whatever they are; the same seed says the same."""
    one = interval(found, seed)
    assert one == interval(found, seed)
    assert one.mean is not None
    assert one.low is not None
    assert one.high is not None
    assert math.isclose(one.mean, float(np.mean(found)), abs_tol=1e-5)
    assert min(found) - 1e-5 <= one.low <= one.high <= max(found) + 1e-5


def test_no_values_have_no_interval() -> None:
    """And a single one is its own."""
    assert interval([], 0) == (None, None, None)
    assert interval([3.0], 0) == (3.0, 3.0, 3.0)


def test_neighbours_that_are_alike_make_it_wider() -> None:
    """Twenty days of ten equal values each know less of a mean than two hundred independent ones."""
    random = np.random.default_rng(1)
    days = np.repeat(random.normal(size=20), 10)
    mixed = random.permutation(days)
    wide, narrow = interval(days.tolist(), 0), interval(mixed.tolist(), 0)
    assert wide.high is not None
    assert wide.low is not None
    assert narrow.high is not None
    assert narrow.low is not None
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_how_often_the_interval_holds_the_true_mean() -> None:
    """About 95 of 100 times for independent values."""
    random = np.random.default_rng(2)
    found = [interval(random.normal(size=100).tolist(), seed) for seed in range(200)]
    held = sum(one.low <= 0 <= one.high for one in found if one.low is not None and one.high is not None)
    assert 0.88 <= held / 200 <= 0.99


def test_the_front_is_what_nothing_beats() -> None:
    """Fewer evictions or more nodes."""
    assert pareto([(0, 0), (2, 3), (3, 3), (5, 4), (2, 1)]) == {0, 1, 3}
