"""The ring under nodes and pods: rows, duplicates, and clocks that go backwards."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.usage.sample_ring import CLOCK_SKEW_SECONDS, MOST_ROWS, NO_COLUMN, RingColumns, SampleRing, row_count

# Which column holds which node, as nodes come and go.


def test_a_key_keeps_its_column() -> None:
    """In whatever order keys are given, and while others come."""
    columns: RingColumns[str] = RingColumns(memory=10)
    first = columns.seat(("a", "b")).columns.tolist()
    assert columns.seat(("b", "a")).columns.tolist() == first[::-1]
    assert columns.seat(("c", "a")).columns.tolist()[1] == first[0]
    assert columns.find(("a", "z", "b")).tolist() == [first[0], NO_COLUMN, first[1]]


def test_a_key_is_forgotten_after_so_many_ticks() -> None:
    """Its column is wiped before another key has it; keys that are seen are never forgotten."""
    columns: RingColumns[str] = RingColumns(memory=3)
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
    columns: RingColumns[str] = RingColumns(memory=10)
    columns.seat(("a", "b"), ("1", ""))
    assert columns.seat(("a", "b"), ("", "2")).cleared.tolist() == []
    assert columns.seat(("a", "b"), ("1", "2")).cleared.tolist() == []
    seats = columns.seat(("a", "b"), ("3", "2"))
    assert seats.cleared.tolist() == [seats.columns[0]]
    assert columns.seat(("a", "b"), ("3", "2")).cleared.tolist() == []


def test_a_forgotten_key_may_come_back_with_another_uid() -> None:
    """It starts with nothing, once."""
    columns: RingColumns[str] = RingColumns(memory=1)
    columns.seat(("a",), ("1",))
    columns.seat(("b",), ("2",))
    assert columns.seat(("a",), ("9",)).cleared.tolist() == [0]


def test_no_more_keys_than_the_limit() -> None:
    """Those gone make room, the longest gone first; those of this tick never do."""
    columns: RingColumns[str] = RingColumns(memory=100, limit=3)
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
    columns: RingColumns[str] = RingColumns(memory, limit)
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


KEYS = ("a", "b", "c")
seconds = st.integers(0, 12).map(lambda tenth: 10.0 * tenth)
numbers = st.one_of(st.just(nan), st.integers(0, 9).map(float))
samples = st.lists(st.tuples(st.one_of(st.just(nan), seconds), numbers, numbers), min_size=3, max_size=3)


class PlainRing:
    """What a ring promises, row by row and key by key."""

    def __init__(self, rows: int) -> None:
        self._most = rows
        self.rows: list[tuple[float, dict[str, tuple[float, list[float]]]]] = []

    def add(self, time: float, tick: list[tuple[float, float, float]], now: float) -> None:
        """Take in one tick of all keys."""
        self.rows = [row for row in self.rows if row[0] <= now + CLOCK_SKEW_SECONDS]
        new = {}
        for key, (at, *values) in zip(KEYS, tick, strict=True):
            if not isfinite(at) or not any(map(isfinite, values)):
                continue
            same = [row[key] for _, row in self.rows if key in row and row[key][0] == at]
            if same:
                kept = same[0][1]
                kept[:] = [new if np.isnan(old) else old for old, new in zip(kept, values, strict=True)]
            else:
                new[key] = (at, values)
        if not new or time > now + CLOCK_SKEW_SECONDS:
            return
        self.rows.sort(key=lambda row: row[0])
        if len(self.rows) == self._most:
            if time < self.rows[0][0]:
                return
            self.rows.pop(0)
        self.rows.append((time, new))


@given(st.lists(st.tuples(st.integers(0, 1000), samples, seconds), max_size=20))
def test_a_ring_keeps_what_a_plain_list_would(ticks: list[tuple[int, list[tuple[float, float, float]], float]]) -> None:
    """With ticks in any order, samples seen before in part or whole, and clocks set back."""
    ring: SampleRing[str] = SampleRing(("one", "other"), 4)
    plain = PlainRing(4)
    taken = set()
    for time, tick, now in ticks:
        # Of two ticks at the same time either may make room first.
        if time in taken:
            continue
        taken.add(time)
        plain.add(float(time) / 10, tick, now)
        rows = np.array(tick).T
        ring.add(float(time) / 10, KEYS, rows[1:], rows[0], now=now)
    found = ring.cells(ring.find(KEYS), -np.inf)
    rows = sorted(plain.rows, key=lambda row: row[0])
    assert found.times.tolist() == [time for time, _ in rows]
    for at, (_, row) in enumerate(rows):
        for column, key in enumerate(KEYS):
            measured_at, values = row.get(key, (nan, [nan, nan]))
            np.testing.assert_array_equal(found.measured_at[at, column], measured_at)
            np.testing.assert_array_equal(found.values[:, at, column], values)


def test_of_two_keys_alike_the_later_counts() -> None:
    """A source that names one pod twice makes one sample of it, whole."""
    ring: SampleRing[str] = SampleRing(("cpu", "memory"), 3)
    ring.add(0.0, ("a", "a"), np.array([[1.0, 2.0], [10.0, 20.0]]), np.array([5.0, 6.0]), now=0.0)
    found = ring.cells(ring.find(("a",)), -np.inf)
    assert (found.values[:, 0, 0].tolist(), found.measured_at.tolist()) == ([2, 20], [[6]])


def test_only_rows_with_something_new_are_given() -> None:
    """``since`` leaves out older rows, not older samples of the same row."""
    ring: SampleRing[str] = SampleRing(("cpu",), 3)
    ring.add(0.0, ("a", "b"), np.array([[1.0, 2.0]]), np.array([-100.0, -50.0]), now=0.0)
    ring.add(10.0, ("a", "b"), np.array([[3.0, 4.0]]), np.array([-90.0, 10.0]), now=10.0)
    assert ring.cells(ring.find(("a",)), 0.0).measured_at.tolist() == [[-90]]
    assert ring.cells(ring.find(("a",)), -50.0).times.tolist() == [10]
    assert ring.cells(ring.find(("a",)), 10.0).times.tolist() == []


@pytest.mark.parametrize(
    ("window", "interval", "least"), [(900, 15, 62), (900, 60, 16), (300, 300, 2), (86400, 15, 5762)]
)
def test_there_are_rows_enough_for_the_window(window: float, interval: float, least: int) -> None:
    """For ticks that come a little early and sources that lag, but not many times as many."""
    assert least <= row_count(window, interval) <= 1.2 * least + 4
    with pytest.raises(ValueError, match=f"at most {MOST_ROWS} are kept"):
        row_count(86400, 1)
