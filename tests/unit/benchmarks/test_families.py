"""The make-room families are measured with plans that the independent checker passes."""

from __future__ import annotations

from benchmarks.families import HEADER, measure
from benchmarks.instances import Family
from benchmarks.machine import MonotonicClock
from tests.builders import PLENTY


def test_a_row_tells_a_plan_that_was_checked() -> None:
    """One pending pod in the smallest cluster: helped, proven, and nothing against the plan."""
    row = dict(zip(HEADER, measure(Family("S", 1, 0.80, 0), PLENTY, MonotonicClock()), strict=True))
    assert (row["status"], row["helped"], row["gap"], row["check"]) == ("OPTIMAL", "1/1", "0.0 %", "passed")
