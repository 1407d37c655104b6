"""Tests of emptying a given number of nodes by the fewest moves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.packing.fewest_moves import empty_nodes
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import drainage_of
from rescheduler.planning.problem.deadline import Deadline
from tests.clocks import FakeClock
from tests.unit.planning.objectives.empty_nodes.small_drainages import drainages, fewest_moves_by_trying, fits


@settings(max_examples=60)
@given(drainages(), st.integers(1, 3))
def test_bound_and_plan_enclose_the_truth(drainage, count):
    """The bound is never above the fewest moves there are, a plan never below; plans have room and empty the nodes."""
    count = min(count, drainage.node_count - 1)
    truth = fewest_moves_by_trying(drainage, count)
    answer = empty_nodes(drainage, count, Deadline(FakeClock(), 5.0), seed=0)
    if truth is None:
        assert answer.best is None
        return
    assert answer.bound <= truth
    if answer.best is not None:
        assert answer.best.moves >= truth
        assert answer.best.moves == int((answer.best.node_of != drainage.home).sum())
        assert fits(drainage, answer.best.node_of)
        assert not np.isin(answer.best.node_of, answer.best.emptied).any()
        assert len(answer.best.emptied) == count


def test_takes_the_node_with_the_fewest_pods():
    """Of nodes alike in room the one with one pod is emptied, not the one with two."""
    drainage = drainage_of(
        np.array([[10], [10], [10]]), np.array([[2], [2], [2], [2], [2], [2]]), np.array([0, 0, 1, 2, 2, 2])
    )
    answer = empty_nodes(drainage, 1, Deadline(FakeClock(), 5.0), seed=0)
    assert answer.best is not None
    assert (answer.best.emptied, answer.best.moves, answer.bound) == ((1,), 1, 1)


def test_exchanges_where_no_single_seat_is_left():
    """A pod that fits nowhere as things stand is seated after two others have changed places for it."""
    capacity = np.array([[10], [10], [6]])
    request = np.array([[5], [3], [4], [4], [3]])
    home = np.array([0, 0, 1, 1, 2])  # free: 2 and 2; the pod of 3 needs more than either
    answer = empty_nodes(drainage_of(capacity, request, home), 1, Deadline(FakeClock(), 5.0), seed=0)
    assert answer.best is not None
    assert answer.best.emptied == (2,)
    assert answer.best.moves == fewest_moves_by_trying(drainage_of(capacity, request, home), 1)


def test_says_that_it_is_impossible():
    """Where the others cannot hold the pods there is no plan."""
    drainage = drainage_of(np.array([[4], [4]]), np.array([[3], [3]]), np.array([0, 1]))
    answer = empty_nodes(drainage, 1, Deadline(FakeClock(), 5.0), seed=0)
    assert answer.best is None
    assert answer.is_impossible


def test_gives_the_same_plan_for_the_same_seed():
    """Seed and problem decide the plan."""
    draw = np.random.default_rng(3)
    request = draw.integers(1, 9, (60, 2))
    home = draw.integers(0, 8, 60)
    capacity = np.full((8, 2), 60)
    drainage = drainage_of(capacity, request, home)
    plans = [empty_nodes(drainage, 2, Deadline(FakeClock(), 5.0), seed=4) for _ in range(2)]
    assert plans[0].best is not None
    assert plans[1].best is not None
    assert (plans[0].best.node_of == plans[1].best.node_of).all()
