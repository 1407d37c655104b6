"""How solvers are stopped: by what is left of the machine's time, or by work of their own that counts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import rescheduler
from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.highs import Linear, MixedInteger, Pace
from rescheduler.planning.solvers.repeatable import RepeatableSolver
from tests.clocks import FakeClock

PRODUCT = Path(rescheduler.__file__).parent


def counted(seconds: float) -> Deadline:
    """A deadline of counted work."""
    return Deadline(CountedClock(0.0), seconds)


def hard(items: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Even weights of which an odd sum is wanted: half of one item is left over until all has been tried."""
    weights = 2 * np.random.default_rng(1).integers(1000, 9999, items)
    return weights, np.array([weights.sum() // 2 | 1])


def knapsack(pace: Pace) -> MixedInteger:
    """As much of the weights as goes."""
    weights, most = hard()
    return MixedInteger(
        cost=-weights.astype(float),
        integrality=np.ones(len(weights)),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=[scipy.optimize.LinearConstraint(weights[None, :].astype(float), -np.inf, most)],
        pace=pace,
    )


def transport(size: int = 40) -> Linear:
    """Each of so many goes somewhere, and nowhere is room for all."""
    costs = np.random.default_rng(2).random(size * size)
    one = scipy.sparse.kron(scipy.sparse.eye_array(size), np.ones((1, size))).tocsr()
    there = scipy.sparse.kron(np.ones((1, size)), scipy.sparse.eye_array(size)).tocsr()
    bounds = np.column_stack([np.zeros(size * size), np.full(size * size, np.inf)])
    return Linear(costs, (there, np.full(size, 1.0)), (one, np.ones(size)), bounds)


def odd_sum() -> cp_model.CpModel:
    """The same question to CP-SAT, which no search answers soon."""
    weights, most = hard(60)
    model = cp_model.CpModel()
    items = [model.new_bool_var("") for _ in weights]
    total = cp_model.LinearExpr.weighted_sum(items, weights.tolist())
    model.add(total + model.new_int_var(0, 0, "") <= int(most[0]))
    model.add_bool_or(items)
    model.maximize(total)
    return model


def test_a_real_clock_gives_what_is_left_of_it() -> None:
    """Beside the limit in deterministic time, which nothing changes."""
    parameters = RepeatableSolver(3, Deadline(FakeClock(), 2.0), 4.0).parameters
    assert (parameters.max_time_in_seconds, parameters.max_deterministic_time) == (2.0, 4.0)
    over = RepeatableSolver(3, Deadline(FakeClock(), 0.0), 4.0).parameters
    assert over.max_time_in_seconds == 0.01


def test_counted_work_gives_no_time_and_no_more_work_than_is_left() -> None:
    """A long limit is cut to what is left, a short one stays."""
    long, short = (RepeatableSolver(3, counted(2.0), limit).parameters for limit in (4.0, 0.5))
    assert long.max_time_in_seconds == short.max_time_in_seconds == float("inf")
    assert long.max_deterministic_time == pytest.approx(2.0, abs=1e-3)
    assert short.max_deterministic_time == 0.5
    assert RepeatableSolver(3, counted(0.0), 4.0).parameters.max_deterministic_time == 0.01


def test_what_cp_sat_has_done_counts() -> None:
    """Deterministic time is taken off the deadline, so that many calls see its end as well."""
    deadline = counted(5.0)
    solver = RepeatableSolver(0, deadline, 1.0)
    solver.solve(odd_sum())
    solver.count_work()
    assert solver.deterministic_time > 0
    assert deadline.remaining() == pytest.approx(5.0 - solver.deterministic_time, abs=1e-3)
    clock = FakeClock()
    untold = RepeatableSolver(0, Deadline(clock, 5.0), 1.0)
    untold.solve(odd_sum())
    untold.count_work()
    assert clock.time == FakeClock().time


def test_branches_are_limited_to_what_is_left() -> None:
    """At the pace of the model: ten of a second each in ten seconds; what was done is taken off."""
    deadline = counted(10.0)
    found = knapsack(Pace(root=0.0, branch=1 / 0.03**2)).solved(deadline, 5000)
    assert found is not None
    assert 0 < found.mip_node_count <= 12
    assert deadline.remaining() == pytest.approx(max(0.0, 10.0 - found.mip_node_count), abs=1e-3)


def test_a_root_that_takes_more_than_is_left_is_not_asked() -> None:
    """Nor is anything taken off; with a real clock it is asked, and stopped."""
    slow, deadline = knapsack(Pace(root=11 / 0.03**2, branch=0.0)), counted(10.0)
    assert slow.solved(deadline, 5000) is None
    assert deadline.remaining() == pytest.approx(10.0, abs=1e-3)
    assert slow.solved(Deadline(FakeClock(), 10.0), 5) is not None


def test_steps_of_the_simplex_are_limited_to_what_is_left() -> None:
    """An answer costs its steps; with too few left there is none."""
    whole, none = counted(10.0), counted(0.00004)
    found = transport().solved(whole)
    assert found.status == 0
    assert 9.99 - 1e-4 * found.nit < whole.remaining() < 10.0 - 1e-5 * found.nit + 1e-3
    assert transport().solved(none).status != 0
    assert transport().solved(Deadline(FakeClock(), 10.0)).fun == pytest.approx(found.fun)


def test_solvers_are_asked_in_these_places_alone() -> None:
    """So that no other call forgets what stops it."""
    asks = re.compile(r"\b(CpSolver|milp|linprog)\b[():]")
    places = {path.name for path in PRODUCT.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))}
    assert places == {"highs.py", "repeatable.py"}


def test_whoever_asks_a_solver_counts_what_it_has_done() -> None:
    """Right after the answer."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PRODUCT.rglob("*.py"))
    counted_after = re.findall(r"status = solver\.solve\(.*\)\n\s+solver\.count_work\(\)", text)
    asked = re.findall(r"solver\.solve\(", text)
    assert text.count("= RepeatableSolver(") == len(asked) == len(counted_after) > 0
