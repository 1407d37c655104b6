"""Statistics of the samples in one window."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.usage.window_statistics import Scale, window_statistics
from tests.unit.usage.sampling import plain_statistics

cells = st.lists(st.tuples(st.one_of(st.just(nan), st.floats(0, 4, width=32)), st.booleans()), min_size=1, max_size=40)


def of(*values: float, inside: list[bool] | None = None) -> dict[str, float]:
    """Statistics of one node's values, measured one second apart."""
    column = np.array(values, dtype=np.float32).reshape(-1, 1)
    is_inside = np.ones(column.shape, bool) if inside is None else np.array(inside).reshape(-1, 1)
    found = window_statistics(column, np.arange(len(values), dtype=float).reshape(-1, 1), is_inside)
    return {name: float(row[0]) for name, row in vars(found).items()}


@given(st.lists(cells, min_size=1, max_size=4))
def test_statistics_equal_the_textbook(columns: list[list[tuple[float, bool]]]) -> None:
    """Whatever gaps there are, and though nodes have different numbers of samples."""
    height = max(map(len, columns))
    padded = [column + [(nan, True)] * (height - len(column)) for column in columns]
    values = np.array([[cell[0] for cell in column] for column in padded], dtype=np.float32).T
    inside = np.array([[cell[1] for cell in column] for column in padded]).T
    times = np.arange(height, dtype=float)[:, None] * np.ones(len(columns))
    found = window_statistics(values, times, inside)
    for at, column in enumerate(padded):
        plain = plain_statistics([(float(t), v) for t, (v, is_in) in enumerate(column) if is_in and v == v])
        for name, wanted in plain.items():
            assert getattr(found, name)[at] == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), name


def test_the_deviation_is_the_populations() -> None:
    """As of Prometheus' stddev_over_time, which divides by the number of samples, not by one less."""
    assert of(1, 3)["deviation"] == 1.0
    assert of(0.1, 0.1, 0.1)["deviation"] == 0.0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    """The nearest rank: never a value between two samples."""
    found = of(*range(1, 21))
    assert [found[name] for name in ("p50", "p90", "p95", "p99", "maximum")] == [10, 18, 19, 20, 20]
    assert of(1, 2)["p50"] == 1


def test_gaps_and_samples_outside_do_not_count() -> None:
    """Missing is never 0."""
    found = of(nan, 5, 9, nan, inside=[True, True, False, True])
    assert (found["count"], found["average"], found["minimum"], found["latest"]) == (1, 5, 5, 5)


def test_nothing_known_is_nan_but_counted_as_none() -> None:
    """For a node without a sample, and for a window without a row."""
    for found in (of(nan, nan), of(1, inside=[False])):
        assert found.pop("count") == 0
        assert all(np.isnan(value) for value in found.values())
    empty = window_statistics(np.zeros((0, 2), np.float32), np.zeros((0, 2)), np.zeros((0, 2), bool))
    assert empty.count.tolist() == [0, 0]
    assert np.isnan(empty.maximum).all()
    assert np.isnan(empty.latest).all()


def test_the_latest_goes_by_its_own_time() -> None:
    """Not by when it was asked for; of two measured at once, by that."""
    values, times = np.array([[1], [2], [3]], np.float32), np.array([[30.0], [10], [20]])
    assert window_statistics(values, times, np.ones((3, 1), bool)).latest.tolist() == [1]
    times[:] = 7
    found = window_statistics(values, times, np.ones((3, 1), bool))
    assert (found.latest.tolist(), found.measured_at.tolist()) == ([3], [7])


def test_scaled_values_lose_the_noise_of_float32() -> None:
    """0.1 of capacity is 10 percent, not 10.000000149."""
    values = np.array([[0.1], [0.3]], np.float32)
    found = window_statistics(values, np.zeros((2, 1)), np.ones((2, 1), bool), Scale(100, 4))
    assert [found.minimum[0], found.maximum[0], found.average[0]] == [10.0, 30.0, 20.0]
    assert found.count.tolist() == [2]
