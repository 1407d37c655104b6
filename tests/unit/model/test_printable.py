"""Texts from outside on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.printable import LONGEST_SHOWN, first_few, shortened, shown


@given(st.text(alphabet=st.characters(), max_size=300))
def test_nothing_that_moves_the_cursor_gets_through(text: str) -> None:
    """Whatever comes in, what goes out is printable and can be encoded."""
    safe = shortened(text)
    assert safe.isprintable()
    safe.encode("utf-8")


def test_plain_texts_stay_and_long_ones_are_cut() -> None:
    """Letters of all scripts stay; the cut is marked."""
    assert shortened("pod-1 é 日本") == "pod-1 é 日本"
    assert shortened("a\x1b[31m\n\u202e") == "a\\x1b[31m\\n\\u202e"
    assert len(shortened("x" * 1000)) == LONGEST_SHOWN
    assert shortened("x" * 1000).endswith("…")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b"), "a, b"),
        (("a", "b", "c"), "a, b and 1 more"),
        ("abcdef", "a, b and 4 more"),
    ],
)
def test_of_many_names_the_first_are_told_and_how_many_more_there_are(names: Sequence[str], told: str) -> None:
    """As many as are allowed are told whole."""
    assert first_few(names, 2) == told


def test_what_stands_between_names_may_be_chosen() -> None:
    """Sentences are joined by semicolons."""
    assert first_few(("one", "two", "three"), 2, "; ", "; and ") == "one; two; and 1 more"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "nothing"),
        (True, "true"),
        (1.5, "1.5"),
        ("a\x1b", r"'a\\x1b'"),
        ({"a": 1}, "a map"),
        ([1], "a list"),
        (10**99, "1" + "0" * 59 + "..."),
    ],
)
def test_a_value_is_repeated_short(value: object, told: str) -> None:
    """Texts in quotes and printable, lists and maps by their kind, nothing at any length."""
    assert shown(value) == told
