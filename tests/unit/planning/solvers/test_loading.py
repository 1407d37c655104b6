"""Programmes are asked where they are loaded or can be in time, so that no short deadline is passed by an import."""

from __future__ import annotations

import sys

import pytest

from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.loading import LOADING_SECONDS, may_use_programmes
from tests.clocks import FakeClock


@pytest.mark.parametrize(
    ("seconds", "is_loaded", "expected"),
    [
        (0.0, True, False),
        (LOADING_SECONDS / 2, True, True),
        (LOADING_SECONDS / 2, False, False),
        (2 * LOADING_SECONDS, False, True),
    ],
)
def test_a_solver_that_is_not_loaded_needs_time(
    monkeypatch: pytest.MonkeyPatch, seconds: float, is_loaded: bool, expected: bool
) -> None:
    """One that is loaded needs some time at all."""
    monkeypatch.delitem(sys.modules, "scipy.optimize", raising=False)
    if is_loaded:
        monkeypatch.setitem(sys.modules, "scipy.optimize", sys)
    assert may_use_programmes(Deadline(FakeClock(), seconds)) is expected


@pytest.mark.parametrize("is_loaded", [False, True])
def test_where_work_is_counted_it_does_not_matter_what_is_loaded(
    monkeypatch: pytest.MonkeyPatch, is_loaded: bool
) -> None:
    """A worker that has planned before answers as a new one does."""
    monkeypatch.delitem(sys.modules, "scipy.optimize", raising=False)
    if is_loaded:
        monkeypatch.setitem(sys.modules, "scipy.optimize", sys)
    assert may_use_programmes(Deadline(CountedClock(0.0), LOADING_SECONDS / 2))
    assert not may_use_programmes(Deadline(CountedClock(0.0), 0.0))
