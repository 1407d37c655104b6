"""Covers are cheapest and their bounds hold, measured against every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.planning.problem.covers import IMPOSSIBLE, Covers

amounts = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=7)


def every_cover(items: list[tuple[int, int, int]], deficit: tuple[int, int]) -> list[tuple[int, int]]:
    """(number, cost) of every subset that makes up for a deficit."""
    return [
        (size, sum(item[2] for item in chosen))
        for size in range(len(items) + 1)
        for chosen in combinations(items, size)
        if sum(item[0] for item in chosen) >= deficit[0] and sum(item[1] for item in chosen) >= deficit[1]
    ]


@settings(max_examples=200, deadline=None)
@given(amounts, st.tuples(st.integers(-1, 12), st.integers(-1, 12)))
def test_the_cheapest_cover_is_found(items: list[tuple[int, int, int]], deficit: tuple[int, int]) -> None:
    """No subset of the node's pods that covers the deficit costs less."""
    held = np.array([[item[0] for item in items], [item[1] for item in items]], dtype=np.int64)
    cost = np.array([item[2] for item in items], dtype=np.int64)
    covers = Covers(held, np.zeros(len(items), dtype=np.int32), 1)
    found = covers.cheapest(0, np.array(deficit), lambda rows: cost[rows], most=100)
    expected = every_cover(items, deficit)
    least = int(covers.least(np.array(deficit, dtype=np.int64)[:, None])[0])
    if not expected:
        assert found is None
        return
    assert found is not None
    assert found.is_exact
    assert found.cost == min(price for _, price in expected) == int(cost[list(found.rows)].sum())
    assert least <= min(number for number, _ in expected)


def test_a_cap_on_their_number_rules_covers_out() -> None:
    """With at most one eviction there is no cover that needs two."""
    covers = Covers(np.array([[1, 1, 1]]), np.zeros(3, dtype=np.int32), 1)
    assert covers.cheapest(0, np.array([2]), np.ones_like, most=1) is None
    assert covers.cheapest(0, np.array([2]), np.ones_like, most=2) is not None


def test_removed_pods_cover_nothing_any_more() -> None:
    """A pod that has left a node counts neither in the bound nor in a cover; copies are independent."""
    covers = Covers(np.array([[3, 1, 4]]), np.array([0, 0, 1], dtype=np.int32), 2)
    rest = covers.copy()
    rest.remove(0, (0,))
    assert rest.least(np.array([[2, 2]])).tolist() == [IMPOSSIBLE, 1]
    assert covers.least(np.array([[2, 2]])).tolist() == [1, 1]
    assert rest.rows_on(0).tolist() == [1]


def test_only_allowed_pods_take_part() -> None:
    """Pods that would find no place are no help."""
    covers = Covers(np.array([[5, 2]]), np.zeros(2, dtype=np.int32), 1, allowed=np.array([False, True]))
    assert covers.rows_on(0).tolist() == [1]
    assert covers.least(np.array([[3]])).tolist() == [IMPOSSIBLE]
