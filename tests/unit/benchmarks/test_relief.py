"""Tests of bringing nodes below a mark."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings

from benchmarks.packing.relief import relieve
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, drainage_of
from rescheduler.planning.problem.deadline import Deadline
from tests.clocks import FakeClock
from tests.unit.planning.objectives.empty_nodes.small_drainages import drainages

MARK = 0.75


def hot(drainage: Drainage, node_of: np.ndarray) -> int:
    """Nodes above the mark."""
    used = np.zeros_like(drainage.capacity)
    np.add.at(used, node_of, drainage.request)
    return int((used > np.floor(drainage.capacity * MARK)).any(axis=1).sum())


@settings(max_examples=80)
@given(drainages())
def test_no_node_becomes_hot_and_the_bound_holds(drainage):
    """Hot nodes never grow in number; where all are relieved, no plan needs fewer moves than the bound."""
    relief = relieve(drainage, MARK, Deadline(FakeClock(), 5.0), seed=0)
    assert relief.hot_before == hot(drainage, drainage.home)
    assert relief.hot_after == hot(drainage, relief.node_of) <= relief.hot_before
    moved = int((relief.node_of != drainage.home).sum())
    for goal in map(np.array, product(range(drainage.node_count), repeat=len(drainage.home))):
        if hot(drainage, goal) == 0:
            assert relief.bound <= (goal != drainage.home).sum()
    if relief.hot_after == 0:
        assert moved >= relief.bound


def test_takes_the_one_large_pod_and_not_the_small_ones():
    """One move is enough where the largest pod leaves."""
    drainage = drainage_of(np.array([[10], [10]]), np.array([[1], [1], [1], [6]]), np.array([0, 0, 0, 0]))
    relief = relieve(drainage, MARK, Deadline(FakeClock(), 5.0), seed=0)
    assert (relief.node_of == [0, 0, 0, 1]).all()
    assert (relief.hot_before, relief.hot_after, relief.bound) == (1, 0, 1)


def test_leaves_a_node_hot_rather_than_heat_another():
    """Where nobody has room below the mark nothing moves."""
    drainage = drainage_of(np.array([[4], [4]]), np.array([[4], [3]]), np.array([0, 1]))
    relief = relieve(drainage, MARK, Deadline(FakeClock(), 5.0), seed=0)
    assert (relief.node_of == [0, 1]).all()
    assert relief.hot_after == 1
