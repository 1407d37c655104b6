"""Times in annotations."""

from __future__ import annotations

import pytest

from rescheduler.model.times import read_time


def test_times_are_read_with_any_zone_and_in_small_letters() -> None:
    """RFC 3339 allows both."""
    assert read_time("1970-01-01T00:00:10Z") == read_time("1970-01-01t01:00:10+01:00") == 10.0
    assert read_time("0001-01-01T00:00:00+14:00") is not None
    assert read_time("9999-12-31T23:59:59-14:00") is not None


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2030-01-01", "2030-01-01T00:00:00", "T", "2030-01-01T00:00:00Z" + " " * 99],
)
def test_what_is_no_moment_is_none(text: str) -> None:
    """A day, a time without a zone and anything endless say no moment."""
    assert read_time(text) is None
