"""Numbers for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.report.numbers import number, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"), (3.0, "3"), (-0.0, "0"), (1234567, "1234567"), (12345.678, "12346"), (1.61803, "1.618"),
        (0.00123456, "0.001235"), (1.5e-7, "1.5e-07"), (-2.5, "-2.5"), (1e20, "1.000e+20"),
    ],
)  # fmt: skip
def test_numbers_show_the_digits_that_count(value: float, text: str) -> None:
    """Whole numbers in full, no exponent unless nothing else is readable."""
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1 / 3, "33%"), (1, "100%"), (2.5, "250%"), (0.0123, "1.2%"), (0.0001, "below 0.1%")],
)
def test_small_shares_are_not_hidden(share: float, text: str) -> None:
    """A gap of half a percent is no gap of none."""
    assert percent(share) == text


@given(st.floats())
def test_every_number_has_a_short_text(value: float) -> None:
    """Endless and missing ones too."""
    assert 0 < len(number(value)) <= 18
    assert 0 < len(percent(value)) <= 22
