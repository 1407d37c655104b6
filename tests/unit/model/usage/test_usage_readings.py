"""Readings of providers become one usage."""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.usage_readings import (
    Reading,
    mean_of_points,
    percent_of,
    short_host,
    statistics_of,
    usage_of,
)


@given(order=st.permutations((Reading("CPU", "", 1.0), Reading("CPU", "Latest", 2.0), Reading("CPU", "AVG", 3.0))))
def test_the_order_of_readings_does_not_matter(order: list[Reading]) -> None:
    """The average and the latest value are kept apart, and a named operator goes before none."""
    assert statistics_of(order, CPU) == {"average": 3.0, "latest": 2.0}


def test_what_cannot_be_used_is_passed_over() -> None:
    """Other types, unknown operators, values that are no numbers; case does not matter."""
    readings = [
        Reading("Storage", "AVG", 1.0), Reading("CPU", "P95", 1.0), Reading("CPU", "AVG", nan),
        Reading("cpu", "std", 4.0), Reading("CPU", "AVG", inf),
    ]  # fmt: skip
    assert statistics_of(readings, CPU) == {"deviation": 4.0}
    assert statistics_of(readings, MEMORY) == {}


def test_usage_is_aligned_with_the_nodes() -> None:
    """Names that are no nodes are passed over, nodes without readings are unknown."""
    found = usage_of(["a", "b"], {"b": [Reading("CPU", "AVG", 30.0)], "x": [Reading("CPU", "AVG", 1.0)]}, 1000.0, 900.0)
    np.testing.assert_array_equal(found.percent(CPU), [nan, 30.0])
    assert found.is_valid.tolist() == [False, True]
    np.testing.assert_array_equal(found.window_end, [nan, 1000.0])


def test_arithmetic_of_providers() -> None:
    """A mean of the points that have a value, percent of capacity, a host name up to its first dot."""
    assert mean_of_points([1.0, None, nan, 3.0]) == 2.0
    assert isnan(mean_of_points([None]))
    assert percent_of(850, 4000) == 21.25
    assert isnan(percent_of(1, 0))
    assert short_host("node1.example.com") == "node1"
