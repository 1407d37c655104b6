"""Tests of choosing changes of hosts, of the moves they become, and of the bound."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fragments.bounds import most_gain, most_gain_of_anything
from benchmarks.fragments.fragmented import Fragmented, blocks_of
from benchmarks.fragments.greedy_moves import greedy_moves
from benchmarks.fragments.item_moves import WIDE, Item, ItemMove, item_moves
from benchmarks.fragments.most_worth import most_worth
from rescheduler.planning.problem.deadline import Deadline
from tests.clocks import FakeClock

BLOCK = 4
WORTH = blocks_of(np.array([BLOCK, 0]))


@st.composite
def mappings(draw: st.DrawFn) -> tuple[Fragmented, list[Item]]:
    """Two or three hosts of two compartments, up to five items of up to three kinds, one of them wide."""
    hosts = draw(st.integers(2, 3))
    request = np.array([[1, 1], [2, 3], [3, 2]])
    is_wide = np.array([False, False, draw(st.booleans())])
    places = st.tuples(st.integers(0, 2), st.integers(0, hosts - 1), st.integers(0, 1))
    items = [
        Item(number, kind, host, WIDE if is_wide[kind] else compartment)
        for number, (kind, host, compartment) in enumerate(draw(st.lists(places, max_size=5)))
    ]
    free = np.array(draw(st.lists(st.integers(0, 6), min_size=hosts * 4, max_size=hosts * 4))).reshape(hosts, 2, 2)
    present = np.zeros((hosts, 2, 3), dtype=np.int64)
    for item in items:
        present[item.host, at(item.compartment), item.kind] += 1
    return Fragmented(free, request, is_wide, present), items


def at(compartment: int) -> int | slice:
    """Index of one compartment, or of all."""
    return slice(None) if compartment == WIDE else compartment


def replay(problem: Fragmented, items: list[Item], moves: list[ItemMove]) -> int:
    """Gain of moves carried out one after another; fails where one finds no room."""
    free = problem.free.copy()
    for move in moves:
        item = items[move.item]
        assert (move.compartment == WIDE) == (item.compartment == WIDE)
        free[move.host, at(move.compartment)] -= problem.request[item.kind]
        assert (free >= 0).all()
        free[item.host, at(item.compartment)] += problem.request[item.kind]
    return int(WORTH(free).sum() - WORTH(problem.free).sum())


def best_gain_by_trying(problem: Fragmented, items: list[Item], most_moves: int) -> int:
    """The most that any placement of the items within the limit is worth, order left aside."""
    spots = [(host, compartment) for host in range(len(problem.free)) for compartment in (0, 1)]
    choices = [
        [(host, WIDE) for host in range(len(problem.free))] if item.compartment == WIDE else spots for item in items
    ]
    best = 0
    for chosen in product(*choices):
        moved = [spot != (item.host, item.compartment) for spot, item in zip(chosen, items, strict=True)]
        if sum(moved) > most_moves:
            continue
        free = problem.free.copy()
        for (host, compartment), item in zip(chosen, items, strict=True):
            free[item.host, at(item.compartment)] += problem.request[item.kind]
            free[host, at(compartment)] -= problem.request[item.kind]
        if (free >= 0).all():
            best = max(best, int(WORTH(free).sum() - WORTH(problem.free).sum()))
    return best


@settings(max_examples=80)
@given(mappings(), st.integers(0, 3))
def test_plan_and_bounds_enclose_the_truth(mapping, most_moves):
    """No plan breaks the limit or is worth more than the best there is, and no bound is below that."""
    problem, items = mapping
    deadline = Deadline(FakeClock(), 5.0)
    chosen, columns = most_worth(problem, WORTH, most_moves, deadline)
    moves = item_moves(problem, columns, chosen.changes, items)
    truth = best_gain_by_trying(problem, items, most_moves)
    assert len(moves) <= most_moves
    assert replay(problem, items, moves) <= truth
    assert most_gain_of_anything(problem, 0, BLOCK, most_moves) >= truth
    if chosen.prices is not None:
        bound = most_gain(problem, 0, BLOCK, most_moves, chosen.prices, deadline)
        assert bound is not None
        assert bound >= truth


def test_one_move_completes_a_block():
    """An item leaves for a hole that is of no other use, and the room it leaves becomes whole."""
    problem = Fragmented(
        free=np.array([[[3, 9]], [[1, 9]]]),
        request=np.array([[1, 1]]),
        is_wide=np.array([False]),
        present=np.array([[[1]], [[0]]]),
    )
    chosen, columns = most_worth(problem, WORTH, 1, Deadline(FakeClock(), 5.0))
    moves = item_moves(problem, columns, chosen.changes, [Item(0, 0, 0, 0)])
    assert moves == [ItemMove(0, 1, 0)]
    assert chosen.gain == 1


def test_wide_items_free_both_compartments():
    """One move of an item that lies on both sides of a host completes two blocks."""
    problem = Fragmented(
        free=np.array([[[2, 9], [2, 9]], [[3, 9], [2, 9]]]),
        request=np.array([[2, 1]]),
        is_wide=np.array([True]),
        present=np.array([[[1], [1]], [[0], [0]]]),
    )
    chosen, columns = most_worth(problem, WORTH, 1, Deadline(FakeClock(), 5.0))
    moves = item_moves(problem, columns, chosen.changes, [Item(0, 0, 0, WIDE)])
    assert replay(problem, [Item(0, 0, 0, WIDE)], moves) == 2


@settings(max_examples=60)
@given(mappings(), st.integers(0, 3))
def test_greedy_moves_find_room_gain_something_and_move_nobody_twice(mapping, most_moves):
    """The answer that is there first keeps the limit, each of its moves finds room, and it is never a loss."""
    problem, items = mapping
    moves = greedy_moves(problem, WORTH, most_moves, items, Deadline(FakeClock(), 5.0))
    assert len(moves) <= most_moves
    assert len({move.item for move in moves}) == len(moves)
    assert replay(problem, items, moves) >= min(1, len(moves))
    assert replay(problem, items, moves) <= best_gain_by_trying(problem, items, most_moves)


def test_greedy_takes_the_move_that_completes_a_block_where_columns_have_no_time():
    """With no time for the program the greedy answer is still there; one that has none either moves nothing."""
    problem = Fragmented(
        free=np.array([[[3, 9]], [[1, 9]]]),
        request=np.array([[1, 1]]),
        is_wide=np.array([False]),
        present=np.array([[[1]], [[0]]]),
    )
    items, over = [Item(0, 0, 0, 0)], Deadline(FakeClock(), 0.0)
    assert greedy_moves(problem, WORTH, 1, items, Deadline(FakeClock(), 1.0)) == [ItemMove(0, 1, 0)]
    assert most_worth(problem, WORTH, 1, over)[0].changes == ()
    assert greedy_moves(problem, WORTH, 1, items, over) == []
