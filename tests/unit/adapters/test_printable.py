"""Texts from outside on a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.printable import LONGEST_SHOWN, shortened


@given(st.text(alphabet=st.characters(), max_size=300))
def test_nothing_that_moves_the_cursor_gets_through(text: str) -> None:
    """Whatever comes in, what goes out is printable and can be encoded."""
    shown = shortened(text)
    assert shown.isprintable()
    shown.encode("utf-8")


def test_plain_texts_stay_and_long_ones_are_cut() -> None:
    """Letters of all scripts stay; the cut is marked."""
    assert shortened("pod-1 é 日本") == "pod-1 é 日本"
    assert shortened("a\x1b[31m\n\u202e") == "a\\x1b[31m\\n\\u202e"
    assert len(shortened("x" * 1000)) == LONGEST_SHOWN
    assert shortened("x" * 1000).endswith("…")
