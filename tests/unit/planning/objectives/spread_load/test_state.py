"""Overload as pods move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.search.local_search import problem_of
from tests.builders import cluster, node, pod
from tests.unit.planning.objectives.spread_load.questions import question_of

CLUSTER = cluster(
    node("n1"), node("n2", cpu="8"), node("n3"),
    *(pod(f"p{number}", node=f"n{1 + number % 3}") for number in range(6)),
)  # fmt: skip
uses = st.lists(st.floats(0, 4), min_size=12, max_size=12)


def state_of(values: list[float], *, is_strict: bool = False, unknown: int | None = None) -> LoadState:
    """Cpu and memory of six pods in cores and GiB, on three nodes with a little use of their own."""
    question = question_of(CLUSTER)
    columns = question.prediction.columns
    is_known = np.array([number != unknown for number in range(3)], dtype=np.bool_)
    use = np.array(values).reshape(2, 6) * [[1000], [2**30]]
    rest = np.array([[100.0, 200, 300], [0, 0, 2**30]])
    observed = ObservedUse(("cpu", "memory"), columns.allocatable[:2].astype(float), use, rest, is_known)
    return LoadState(problem_of(question), observed, {"cpu": 0.5, "memory": 0.2}, is_strict=is_strict)


@given(uses, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=6))
def test_a_change_is_what_the_move_then_does(values: list[float], moves: list[tuple[int, int]]) -> None:
    """To every node, after any other moves; staying changes nothing."""
    state = state_of(values)
    for row, to in moves:
        change = state.change(row)
        assert change[state.node_of[row]] == 0
        before = state.cost
        state.move(row, to)
        assert state.cost == pytest.approx(before + change[to], abs=1e-7)


@given(uses, st.integers(0, 5), st.integers(0, 5))
def test_coming_instead_is_coming_after_the_other_has_left(values: list[float], row: int, other: int) -> None:
    """The other's going counts, its arrival elsewhere does not."""
    state = state_of(values)
    node_of = int(state.node_of[other])
    if node_of == state.node_of[row]:
        return
    estimate = state.instead(row)[other]
    left = state.cost - state.over()[:, node_of].sum()
    gone = np.maximum(0, state.excess()[:, node_of] - state.uses[:, other] + state.uses[:, row]).sum()
    assert estimate == pytest.approx(left + gone - state.relief(row) - state.cost, abs=1e-7)


@given(uses)
def test_nobody_gains_more_than_was_hoped(values: list[float]) -> None:
    """And only pods with a hope are promising, the best first."""
    state = state_of(values)
    hopes = state.hopes()
    assert all(-state.change(row).min() <= hopes[row] + 1e-9 for row in range(6))
    assert hopes[state.promising()].tolist() == sorted(hopes[hopes > 1e-9].tolist(), reverse=True)


@given(uses)
def test_a_strict_state_forbids_to_rise_above_the_target(values: list[float]) -> None:
    """Whatever is gained elsewhere; a plain one lets the sum decide."""
    strict, plain = state_of(values, is_strict=True), state_of(values)
    for row in range(6):
        change = strict.change(row)
        for to in range(3):
            over = plain.over()[:, to].copy()
            if np.isfinite(change[to]) and to != plain.node_of[row]:
                home = int(plain.node_of[row])
                plain.move(row, to)
                assert (plain.over()[:, to] <= over + 1e-7).all()
                plain.move(row, home)


def test_an_unknown_node_is_neither_hot_nor_a_goal() -> None:
    """Nor may its pods leave because of load."""
    state = state_of([4.0] * 12, is_strict=True, unknown=2)
    assert not state.hot()[2]
    assert np.isinf(state.change(0)[2])
    row = int(np.flatnonzero(state.node_of == 2)[0])
    assert np.isinf(state.change(row)[:2]).all()


def test_moving_there_and_back_leaves_no_trace() -> None:
    """Amounts are told as they were."""
    state = state_of([1.0] * 12)
    before, cost = state.use(), state.cost
    state.move(0, 1)
    assert not np.allclose(state.use(), before)
    state.move(0, 0)
    assert np.allclose(state.use(), before)
    assert state.cost == pytest.approx(cost)
