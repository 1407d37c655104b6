"""Tests of the order of moves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.packing.ordering import ordered_moves
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, drainage_of
from tests.unit.planning.objectives.empty_nodes.small_drainages import drainages, fits


def replay(drainage: Drainage, moves: list[tuple[int, int]]) -> np.ndarray:
    """Where everybody ends; fails where a move finds no room."""
    at = drainage.home.copy()
    for pod, node in moves:
        held = drainage.request[at == node].sum(axis=0) + drainage.request[pod]
        assert (held <= drainage.capacity[node]).all()
        at[pod] = node
    return at


@settings(max_examples=100)
@given(drainages(), st.randoms(use_true_random=False))
def test_each_move_finds_its_room(drainage, random):
    """Whatever the goal, an order is feasible step by step and reaches it, or there is none."""
    goal = np.array([random.randrange(drainage.node_count) for _ in drainage.home], dtype=np.int64)
    if fits(drainage, goal):
        moves = ordered_moves(drainage, goal)
        if moves is not None:
            assert (replay(drainage, moves) == goal).all()


def test_parks_one_pod_to_break_a_ring():
    """Two pods that change places need a third node for a moment: three moves."""
    drainage = drainage_of(np.array([[5], [5], [5]]), np.array([[4], [3]]), np.array([0, 1]))
    moves = ordered_moves(drainage, np.array([1, 0]))
    assert moves is not None
    assert len(moves) == 3
    assert (replay(drainage, moves) == [1, 0]).all()


def test_finds_none_where_nothing_can_be_parked():
    """Two full nodes and no third one: there is no order."""
    drainage = drainage_of(np.array([[4], [4]]), np.array([[4], [4]]), np.array([0, 1]))
    assert ordered_moves(drainage, np.array([1, 0])) is None
