"""The loops of draining keep room and separation, take back what they tried, and give the same when compiled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.planning.objectives.empty_nodes.draining.compiling import PLAIN, Loops, compilation, compiled_loops
from rescheduler.planning.objectives.empty_nodes.draining.seats import (
    AWAY,
    DrainSeats,
    SeatedPods,
    as_arrays,
    as_lists,
    seats_of,
)
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from tests.unit.planning.objectives.empty_nodes.small_drainages import drainages

MANY = settings(max_examples=150, deadline=None)


def seats_for(drainage: Drainage, apart: np.ndarray, seed: int, *, is_compiled: bool = False) -> DrainSeats:
    """All pods at home, every node open."""
    free = drainage.capacity.copy()
    np.subtract.at(free, drainage.home, drainage.request)
    is_closed = np.zeros(drainage.node_count, dtype=np.bool_)
    pods = SeatedPods(
        free, drainage.capacity, drainage.request, drainage.class_of, drainage.open_to, apart,
        drainage.home, drainage.home, is_closed,
    )  # fmt: skip
    return seats_of(pods, seed, is_compiled=is_compiled)


def check(seats: DrainSeats, drainage: Drainage, apart: np.ndarray) -> None:
    """Everybody sits somewhere with room, apart from the like unless at home, and all counts are right."""
    node_of = np.array(seats.node_of)
    free = drainage.capacity.copy()
    np.subtract.at(free, node_of, drainage.request)
    assert (node_of >= 0).all()
    assert (free >= 0).all()
    assert free.ravel().tolist() == list(seats.free)
    assert np.bincount(node_of, minlength=drainage.node_count).tolist() == list(seats.count)
    assert seats.state[AWAY] == (node_of != drainage.home).sum()
    for node in range(drainage.node_count):
        listed = seats.pods_at[node * seats.places : node * seats.places + seats.count[node]]
        assert sorted(listed) == np.flatnonzero(node_of == node).tolist()
        moved_in = [apart[pod] for pod in listed if drainage.home[pod] != node and apart[pod] >= 0]
        assert all(sum(apart[other] == number for other in listed) == 1 for number in moved_in)


def work(seats: DrainSeats, loops: Loops) -> list[object]:
    """Drain two nodes, close the first if that worked, take the second back, then try to bring everybody home."""
    nodes = np.arange(seats.nodes) if loops.is_compiled else list(range(seats.nodes))
    told: list[object] = [bool(loops.drain(seats, 0, nodes, 30, 0.5))]
    if told[0]:
        seats.is_closed[0] = True
    seats.state[2] = 0
    told.append(bool(loops.drain(seats, seats.nodes - 1, nodes, 30, 0.5)))
    loops.undo(seats, 0)
    told += [bool(loops.go_home(seats, pod, 0.5)) for pod in range(len(seats.home))]
    return told


@MANY
@given(drainages(), st.integers(0, 9), st.booleans())
def test_whatever_the_loops_do_everybody_has_a_seat(drainage: Drainage, seed: int, keeps_apart: bool) -> None:
    """Room, separation, lists of pods by node and the number of moved pods are right after any work."""
    apart = np.where(np.arange(len(drainage.home)) % 2 == 0, 0, -1) if keeps_apart else np.full(len(drainage.home), -1)
    seats = seats_for(drainage, apart, seed)
    nodes = list(range(drainage.node_count))
    drained = PLAIN.drain(seats, 0, nodes, 20, 0.5)
    assert drained == (seats.count[0] == 0)
    check(seats, drainage, apart)
    PLAIN.undo(seats, 0)
    assert list(seats.node_of) == drainage.home.tolist()
    work(seats, PLAIN)
    check(seats, drainage, apart)
    if seats.is_closed[0]:
        assert seats.count[0] == 0


@MANY
@given(drainages(), st.integers(0, 9))
def test_nobody_is_further_from_home_after_the_way_home(drainage: Drainage, seed: int) -> None:
    """Bringing pods home never takes more of them away."""
    seats = seats_for(drainage, np.full(len(drainage.home), -1), seed)
    PLAIN.drain(seats, 0, list(range(drainage.node_count)), 10, 0.5)
    for pod in range(len(drainage.home)):
        before = seats.state[AWAY]
        PLAIN.go_home(seats, pod, 0.5)
        assert seats.state[AWAY] <= before


@given(drainages())
def test_lists_and_arrays_hold_the_same(drainage: Drainage) -> None:
    """A search may change from plain to compiled loops at any time."""
    seats = seats_for(drainage, np.full(len(drainage.home), -1), 1)
    assert as_lists(as_arrays(seats)) == seats


def test_compiled_and_plain_loops_do_the_same() -> None:
    """With the same seed every decision and every seat is the same."""
    pytest.importorskip("numba")
    random = np.random.default_rng(5)
    request = random.integers(1, 9, (60, 2))
    home = random.integers(0, 6, 60)
    capacity = np.zeros((6, 2), dtype=np.int64)
    np.add.at(capacity, home, request)
    drainage = Drainage(
        (capacity * 1.25).astype(np.int64) + 4, request, home, np.zeros(60, dtype=np.int64),
        np.ones((1, 6), dtype=np.bool_), np.ones(6, dtype=np.bool_),
    )  # fmt: skip
    apart = np.where(np.arange(60) < 5, 7, -1)
    plain, fast = (seats_for(drainage, apart, 3, is_compiled=is_compiled) for is_compiled in (False, True))
    assert work(plain, PLAIN) == work(fast, compiled_loops())
    assert as_lists(fast) == plain


def test_compilation_gives_loops_once_it_is_done() -> None:
    """Asked too early it gives none; once ready it gives the compiled ones."""
    pytest.importorskip("numba")
    one = compilation()
    one.wait(250.0)
    loops = one.loops()
    assert loops is not None
    assert loops.is_compiled
