"""Which column holds which node, as nodes come and go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.usage.columns import NO_COLUMN, Columns


def test_a_key_keeps_its_column() -> None:
    """In whatever order keys are given, and while others come."""
    columns: Columns[str] = Columns(memory=10)
    first = columns.seat(("a", "b")).columns.tolist()
    assert columns.seat(("b", "a")).columns.tolist() == first[::-1]
    assert columns.seat(("c", "a")).columns.tolist()[1] == first[0]
    assert columns.find(("a", "z", "b")).tolist() == [first[0], NO_COLUMN, first[1]]


def test_a_key_is_forgotten_after_so_many_ticks() -> None:
    """Its column is wiped before another key has it; keys that are seen are never forgotten."""
    columns: Columns[str] = Columns(memory=3)
    gone, stays = columns.seat(("gone", "stays")).columns.tolist()
    for _ in range(2):
        columns.seat(("stays",))
    assert columns.find(("gone",)).tolist() == [gone]
    seats = columns.seat(("stays", "new"))
    assert seats.columns.tolist() == [stays, gone]
    assert seats.cleared.tolist() == [gone]
    assert columns.find(("gone",)).tolist() == [NO_COLUMN]
    assert columns.width == 2


def test_another_uid_is_another_object() -> None:
    """Its column is wiped; an unknown uid is taken for the same object."""
    columns: Columns[str] = Columns(memory=10)
    columns.seat(("a", "b"), ("1", ""))
    assert columns.seat(("a", "b"), ("", "2")).cleared.tolist() == []
    assert columns.seat(("a", "b"), ("1", "2")).cleared.tolist() == []
    seats = columns.seat(("a", "b"), ("3", "2"))
    assert seats.cleared.tolist() == [seats.columns[0]]
    assert columns.seat(("a", "b"), ("3", "2")).cleared.tolist() == []


def test_a_forgotten_key_may_come_back_with_another_uid() -> None:
    """It starts with nothing, once."""
    columns: Columns[str] = Columns(memory=1)
    columns.seat(("a",), ("1",))
    columns.seat(("b",), ("2",))
    assert columns.seat(("a",), ("9",)).cleared.tolist() == [0]


def test_no_more_keys_than_the_limit() -> None:
    """Those gone make room, the longest gone first; those of this tick never do."""
    columns: Columns[str] = Columns(memory=100, limit=3)
    columns.seat(("a", "b"))
    columns.seat(("b", "c"))
    seats = columns.seat(("d",))
    assert seats.columns.tolist() == seats.cleared.tolist()
    assert columns.find(("a",)).tolist() == [NO_COLUMN]
    assert (columns.find(("b", "c")) != NO_COLUMN).all()
    crowded = columns.seat(tuple("wxyz")).columns.tolist()
    assert sorted(crowded) == [NO_COLUMN, 0, 1, 2]
    assert columns.width == 3


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=25), st.integers(1, 5), st.integers(1, 5))
def test_two_keys_never_share_a_column(ticks: list[list[str]], memory: int, limit: int) -> None:
    """And whoever has a column that another had before is told to wipe it."""
    columns: Columns[str] = Columns(memory, limit)
    owner: dict[int, str] = {}
    for keys in ticks:
        seats = columns.seat(tuple(keys))
        for key, column in zip(keys, seats.columns.tolist(), strict=True):
            if column != NO_COLUMN:
                assert owner.get(column) == key or column in seats.cleared
                owner[column] = key
        assert len({key for key in keys if columns.find((key,))[0] != NO_COLUMN}) == len(
            {column for column in seats.columns.tolist() if column != NO_COLUMN}
        )
        assert columns.width <= limit
