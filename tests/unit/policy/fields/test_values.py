"""Durations and shares as policies write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.policy.fields.values import format_duration, parse_duration, parse_positive_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90.0), ("5m", 300.0), ("1h30m", 5400.0), ("0", 0.0), ("0s", 0.0), ("1.5s", 1.5), ("250ms", 0.25)],
)
def test_go_durations_are_read(text: str, seconds: float) -> None:
    """Hours, minutes, seconds and fractions add up."""
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "5mins", "-1h", "PT5M", "1 h", "1h 30m", "s", "1e3s", "٣s", "nan", "inf"])
def test_anything_else_is_refused_with_the_form_to_write(text: str) -> None:
    """A text that is no Go duration is refused, and the message shows one that is."""
    with pytest.raises(ValueError, match="90s"):
        parse_duration(text)


def test_a_duration_of_ages_is_refused() -> None:
    """A number of hours that no plan could mean is refused, not turned into a huge number."""
    with pytest.raises(ValueError, match="longer than ten years"):
        parse_duration("1000000000h")


@pytest.mark.parametrize("text", ["0", "0s", "0h0m"])
def test_a_deadline_leaves_time(text: str) -> None:
    """Where time must be above zero, zero is refused."""
    with pytest.raises(ValueError, match="no time"):
        parse_positive_duration(text)


@given(st.integers(min_value=0, max_value=10**8))
def test_whole_seconds_survive_writing_and_reading(seconds: int) -> None:
    """What is written for people reads back as the same time."""
    assert parse_duration(format_duration(float(seconds))) == seconds
