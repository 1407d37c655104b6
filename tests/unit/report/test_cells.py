"""Tables: columns that line up, whatever their number of rows and the width of the screen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rescheduler.report.cells import plural, table
from tests.unit.report.rendering import rendered


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


@given(st.lists(st.tuples(*[st.text(st.characters(codec="utf-8"), max_size=30)] * 3), max_size=5), st.integers(1, 120))
def test_no_line_is_wider_than_the_screen(rows: list[tuple[str, ...]], width: int) -> None:
    """Names of any letters, screens of any width."""
    text = rendered([table(["A", "B", "C"], rows)], width=max(width, 8))
    assert all(cell_len(line.rstrip()) <= max(width, 8) for line in text.splitlines())


def test_counts_have_singular_and_plural() -> None:
    """Large ones have no exponent."""
    assert [plural(1, "pod"), plural(0, "pod"), plural(10_000_000, "pod")] == ["1 pod", "0 pods", "10000000 pods"]
    assert plural(2, "pod moves", "pods move") == "2 pods move"
