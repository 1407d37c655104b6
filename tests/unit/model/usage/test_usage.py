"""Observed load, and what may be trusted of it."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.usage import Statistics, Usage, UsageWindows, no_usage, possible_percent


def row(*values: float) -> np.ndarray:
    """A column of values for each node."""
    return np.array(values, dtype=np.float64)


def sample(**fields: object) -> Usage:
    """Three nodes with cpu only."""
    cpu = Statistics(row(10, nan, 130), row(5, nan, 3), row(20, 30, nan), row(50, nan, 90), row(40, 1, 95))
    defaults = {"window_end": row(1000, 700, nan), "window_seconds": row(900, 900, 900), "is_valid": np.ones(3, bool)}
    return Usage({CPU: cpu}, **{**defaults, **fields})  # type: ignore[arg-type]


def test_the_average_goes_before_the_latest_value() -> None:
    """Values above 100 count as 100; a node with neither is unknown."""
    np.testing.assert_array_equal(sample().percent(CPU), row(10, 30, 100))
    np.testing.assert_array_equal(sample().percent(MEMORY), row(nan, nan, nan))


def test_an_unknown_deviation_is_none() -> None:
    """And an unknown range stays unknown; a range is never negative."""
    assert sample().deviation(CPU).tolist() == [5, 0, 3]
    assert sample().deviation(MEMORY).tolist() == [0, 0, 0]
    np.testing.assert_array_equal(sample().fluctuation(CPU), row(10, nan, 0))
    np.testing.assert_array_equal(sample().fluctuation(MEMORY), row(nan, nan, nan))


def test_impossible_percentages_are_unknown() -> None:
    """Negative, infinite and undefined ones."""
    np.testing.assert_array_equal(possible_percent(row(-1, inf, -inf, nan, 0, 101)), row(nan, nan, nan, nan, 0, 100))


def test_a_window_is_fresh_for_five_minutes() -> None:
    """Unless its source is not trusted; a node without a window never is."""
    assert sample().is_fresh(1000).tolist() == [True, True, False]
    assert sample().is_fresh(1001).tolist() == [True, False, False]
    assert sample(is_valid=np.array([False, True, True])).is_fresh(1000).tolist() == [False, True, False]


def test_arrays_of_different_lengths_are_refused() -> None:
    """The message names the array."""
    with pytest.raises(ValueError, match="window_seconds covers 2 nodes, but window_end covers 3"):
        sample(window_seconds=row(1, 2))
    with pytest.raises(ValueError, match="cpu average covers 3 nodes"):
        sample(window_end=row(1), window_seconds=row(1), is_valid=np.ones(1, bool))


def test_windows_by_their_length() -> None:
    """Another length is no window at all."""
    found = sample()
    windows = UsageWindows({300.0: found})
    assert windows.over(300.0) is found
    assert windows.over(600.0) is None
    assert not no_usage(2).is_fresh(0).any()


def test_statistics_that_were_left_out_are_unknown() -> None:
    """One NaN for each node, so that a source need not know of all of them."""
    found = Statistics(*(row(1, 2) for _ in range(5)), p95=row(3, 4))
    assert found.p95.tolist() == [3, 4]
    np.testing.assert_array_equal(found.p50, row(nan, nan))
    np.testing.assert_array_equal(found.count, row(nan, nan))
    broken = Statistics(*(row(1, 2) for _ in range(5)), p99=row(1, 2, 3))
    with pytest.raises(ValueError, match="cpu p99 covers 3 nodes, but window_end covers 2"):
        Usage({CPU: broken}, row(1, 1), row(1, 1), np.ones(2, bool))
