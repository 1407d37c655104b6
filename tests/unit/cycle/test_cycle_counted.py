"""Where work is counted a plan does not depend on how busy the machine is: no wall time stops a solver there."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from msgspec import structs

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.simulated.scenarios import fragmented, infeasible
from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.plugins import parse_policy
from rescheduler.extension_points import Clock
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.objectives.spread_load.whole_model import solve_whole
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.solvers.cp_sat import cp_model
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.planning.objectives.spread_load.questions import question_of, use_of

NO_TIME = 1e-6
CORES = (250, 500, 1000, 1500)
OBJECTIVES = {
    "MakeRoom": "{name: MakeRoom}",
    "MakeRoom in vain": "{name: MakeRoom}",
    "EmptyNodes": "{name: EmptyNodes}",
    "Defragment": "{name: Defragment, args: {shapes: [{cpu: '3', memory: 3Gi}]}}",
}


class Solvers:
    """The solvers of a machine. ``calls``: how often each was asked; ``walls``: seconds on the wall that it was given;
    ``is_busy``: whatever of them is given has passed before a solver begins.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.walls: list[float] = []
        self.is_busy = False
        solve = cp_model.CpSolver.solve

        def cp_sat(solver: Any, *given: Any) -> Any:
            self.calls.append("CP-SAT")
            if math.isfinite(solver.parameters.max_time_in_seconds):
                self.walls.append(solver.parameters.max_time_in_seconds)
                if self.is_busy:
                    solver.parameters.max_time_in_seconds = NO_TIME
            return solve(solver, *given)

        monkeypatch.setattr(cp_model.CpSolver, "solve", cp_sat)
        for name in ("milp", "linprog"):
            monkeypatch.setattr(scipy.optimize, name, self._highs(name, getattr(scipy.optimize, name)))

    def _highs(self, name: str, asked: Callable[..., Any]) -> Callable[..., Any]:
        def highs(*given: Any, options: dict[str, Any] | None = None, **named: Any) -> Any:
            self.calls.append(name)
            options = dict(options or {})
            if options.get("time_limit") is not None:
                self.walls.append(options["time_limit"])
                if self.is_busy:
                    options["time_limit"] = NO_TIME
            return asked(*given, options=options, **named)

        return highs


@pytest.fixture
def solvers(monkeypatch: pytest.MonkeyPatch) -> Solvers:
    """As they are asked from here on."""
    return Solvers(monkeypatch)


def scattered(seed: int) -> Cluster:
    """Eight nodes with 24 pods here and there."""
    random = Random(seed)
    pods = [pod(f"a-{n}", f"{random.choice(CORES)}m", node=f"n{random.randrange(8)}") for n in range(24)]
    return cluster(*(node(f"n{n}", memory="8Gi") for n in range(8)), *pods, workload("a", 24))


CLUSTERS = {
    "MakeRoom": fragmented(0),
    "MakeRoom in vain": infeasible(0),
    "EmptyNodes": scattered(5),
    "Defragment": scattered(5),
}


def planned(objective: str, clock: Clock, deadline: str = "2s") -> Plan:
    """A plan, without what its objectives took."""
    text = (
        "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"
        f"limits: {{deadline: {deadline}}}\nobjectives: [{OBJECTIVES[objective]}]\n"
    )
    plan = make_plan(CLUSTERS[objective], parse_policy(text, "policy.yaml"), CycleOptions(clock))
    return structs.replace(plan, objectives=tuple(structs.replace(one, seconds=0.0) for one in plan.objectives))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_busy_machine_plans_the_same(solvers: Solvers, objective: str) -> None:
    """Solvers are asked, and given no wall time at all."""
    idle = planned(objective, CountedClock(NOW))
    assert (bool(solvers.calls), bool(idle.moves), solvers.walls) == (True, "vain" not in objective, [])
    solvers.is_busy = True
    assert planned(objective, CountedClock(NOW)) == idle


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_real_clock_limits_every_solver(solvers: Solvers, objective: str) -> None:
    """Each call is given what is left of the deadline at most."""
    planned(objective, SystemClock())
    assert len(solvers.walls) == len(solvers.calls) > 0
    assert max(solvers.walls) <= 2.0


@pytest.mark.parametrize(("clock", "is_limited"), [(CountedClock(NOW), False), (SystemClock(), True)])
def test_load_is_spread_by_counted_work_too(solvers: Solvers, clock: Clock, is_limited: bool) -> None:
    """The whole program of a small cluster."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1")))
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"a": 1.5, "b": 1.0}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    whole = solve_whole(problem, state, limits, np.zeros(2), Deadline(clock, 5.0))
    assert whole is not None
    assert len(whole.moves) == 1
    assert bool(solvers.walls) is is_limited
