"""Tables: columns that line up, whatever their number of rows and the width of the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rescheduler.report.cells import number, percent, plural, table
from tests.unit.report.rendering import rendered

# Numbers for people.


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


def test_numbers_stand_right_and_texts_left() -> None:
    """Under their headings."""
    text = rendered([table(["WAVE", "POD", "WHY"], [[1, "a", "x"], [20000, "b", ""]], right=["WAVE"])])
    assert [line.rstrip() for line in text.splitlines()] == [
        " WAVE  POD  WHY",
        "    1  a    x",
        "20000  b",
    ]


def test_only_the_last_column_folds() -> None:
    """Its further lines stand below its first one."""
    text = rendered([table(["POD", "WHY"], [["web-1", "one two three four five six seven"]])], width=31)
    assert [line.rstrip() for line in text.splitlines()] == [
        "POD    WHY", "web-1  one two three four five", "       six seven",
    ]  # fmt: skip


def test_columns_that_may_be_narrowed_are_in_their_order() -> None:
    """So a wide table stays one; where even that is too wide each row is a block of lines."""
    rows = [["web-1", "a reason that goes on and on", "7f458ff6-1fcf-4b4e-866b-24d371a538e8"]]
    parts = [table(["POD", "REASON", "UID"], rows, folds=["UID", "REASON"])]
    assert [line.rstrip() for line in rendered(parts, width=56).splitlines()] == [
        "POD    REASON                        UID",
        "web-1  a reason that goes on and on  7f458ff6-1fcf-4b4e-",
        "                                     866b-24d371a538e8",
    ]
    assert [line.rstrip() for line in rendered(parts, width=47).splitlines()] == [
        "POD    REASON                UID",
        "web-1  a reason that goes    7f458ff6-1fcf-4b4e",
        "       on and on             -866b-24d371a538e8",
    ]
    assert rendered(parts, width=40).startswith("- pod: web-1\n")


@given(st.lists(st.tuples(*[st.text(st.characters(codec="utf-8"), max_size=30)] * 3), max_size=5), st.integers(1, 120))
def test_no_line_is_wider_than_the_screen(rows: list[tuple[str, ...]], width: int) -> None:
    """Names of any letters, screens of any width."""
    text = rendered([table(["A", "B", "C"], rows)], width=max(width, 8))
    text += rendered([table(["A", "B", "C"], rows, folds=["B", "A", "C"])], width=max(width, 8))
    assert all(cell_len(line.rstrip()) <= max(width, 8) for line in text.splitlines())


def test_counts_have_singular_and_plural() -> None:
    """Large ones have no exponent."""
    assert [plural(1, "pod"), plural(0, "pod"), plural(10_000_000, "pod")] == ["1 pod", "0 pods", "10000000 pods"]
    assert plural(2, "pod moves", "pods move") == "2 pods move"
