"""Benchmark: deadlines are met, and no plan is below what a simple rule reaches in the same time, in random runs.

``python -m benchmarks.promises [--runs N] [--seed S] [--largest NODES] [--longest SECONDS] [--objectives A,B]`` draws
objective, size, limits and deadline of each run, plans as ``rescheduler plan`` does from the decoded snapshot on, and
lets the simple rule of that objective (``benchmarks/simple_rules.py``) run beside it, from where eligibility ends to
the same deadline; the arrays that a rule needs count in its time. It reports each deadline that is passed by more than
5 % and half a second, and each plan below its rule; exit 1 where there are any. SchedulerScore has no rule: each of its
moves must be the scheduler's own.
``--cpu-clock``: deadlines in processor time of the whole process, beside other work.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import UNSET

from benchmarks.instances import Family, make_family
from benchmarks.machine import MonotonicClock, describe_machine
from benchmarks.simple_rules import cost_of_first_gains, emptied_with_fewest_pods_first, helped_at_first_node
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.extension_points import Clock
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.objectives import objectives_of
from rescheduler.planning.objectives.spread_load.objective import SpreadLoad
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.policy.fields.objectives import SpreadLoadArgs
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.objective_arguments import arguments_of
from rescheduler.scheduling.schedulers import DEFAULTS
from rescheduler.usage.observed_use import observed_use

ARGUMENTS: dict[str, dict[str, Any]] = {
    "MakeRoom": {},
    "EmptyNodes": {},
    "SpreadLoad": {"target": {"cpu": "70%"}},
    "SeparateAntagonists": {"label": "app"},
    "Defragment": {"shapes": [{"cpu": "8", "memory": "16Gi"}]},
    "FaultDomains": {},
    "SchedulerScore": {"minimumGain": 10},
}
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
UTILISATIONS = (0.55, 0.7, 0.85)
NO_LIMIT = 1_000_000
EVICTIONS = (1, 7, 20, 333, NO_LIMIT)
PER_NODE = (1, 10, NO_LIMIT)
SHORTEST = 0.2
LATE_SHARE, LATE_SECONDS = 0.05, 0.5
_SAME = 1e-6
_OLDEST_READING = 0.005
HEADER = ("objective", "nodes", "pods", "limits", "deadline", "seconds", "cpu", "ours", "rule", "status", "faults")


class ProcessClock(MonotonicClock):
    """Counts the processor time of the whole process, for a machine that does other work.

    With many threads the kernel needs up to a fifth of a millisecond to add theirs up, and a large plan asks tens of
    thousands of times: so it is asked again only where the process can have computed for longer than that.
    """

    def __init__(self) -> None:
        """Nothing is read yet."""
        super().__init__()
        self._read_at = -math.inf
        self._read = 0.0

    def monotonic(self) -> float:
        """Seconds that this process has computed, at most a few milliseconds old."""
        now = time.perf_counter()
        if now - self._read_at >= _OLDEST_READING:
            self._read_at, self._read = now, time.process_time()
        return self._read


@dataclass(frozen=True)
class Run:
    """What is drawn for one run."""

    objective: str
    family: Family
    evictions: int
    per_node: int
    deadline_seconds: float

    @property
    def policy(self) -> Policy:
        """The policy that asks for it."""
        limits = {
            "maxEvictions": self.evictions,
            "maxEvictionsPerNode": self.per_node,
            "maxEvictionsPerNamespace": NO_LIMIT,
            "deadline": f"{round(self.deadline_seconds * 1000)}ms",
        }
        objective = {"name": self.objective, "args": ARGUMENTS[self.objective]}
        head = {"apiVersion": "rescheduler/v1alpha1", "kind": "ReschedulerPolicy"}
        return Policy.model_validate_json(json.dumps({**head, "objectives": [objective], "limits": limits}))


@dataclass
class Measured:
    """One row: what a plan took and reached beside its rule. ``faults``: promises that it breaks."""

    run: Run
    pods: int
    seconds: float
    cpu: float
    ours: float
    rule: float
    status: str
    faults: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[str]:
        """As it is printed."""
        run = self.run
        limits = f"{run.evictions}/{run.per_node}"
        return [
            run.objective, run.family.size, f"{self.pods:,}", limits, f"{run.deadline_seconds:.2f}",
            f"{self.seconds:.2f}", f"{self.cpu:.2f}", f"{self.ours:g}", f"{self.rule:g}", self.status,
            "; ".join(self.faults) or "none",
        ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code, 1 if a promise is broken."""
    options = _parser().parse_args(arguments)
    clock = ProcessClock() if options.cpu_clock else MonotonicClock()
    print(f"# {describe_machine()}; {'processor' if options.cpu_clock else 'wall'} time")
    print(_line(HEADER), _line(["---"] * len(HEADER)), sep="\n")
    draw = random.Random(options.seed)
    rows = []
    for _ in range(options.runs):
        rows.append(measure(drawn(draw, options.objectives, options.largest, options.longest), clock))
        print(_line(rows[-1].cells), flush=True)
    broken = sum(bool(row.faults) for row in rows)
    print(f"# {broken} of {len(rows)} runs break a promise")
    if options.output is not None:
        options.output.write_text(json.dumps([dict(zip(HEADER, row.cells, strict=True)) for row in rows]) + "\n")
    return int(broken > 0)


def drawn(draw: random.Random, objectives: Sequence[str], largest: int, longest: float) -> Run:
    """One run by chance; deadlines are as often short as long."""
    name = draw.choice(objectives)
    size = draw.choice([size for size in SIZES if size <= largest])
    pending = draw.choice((1, 5, 20)) if name == "MakeRoom" else 0
    family = Family(str(size), pending, draw.choice(UTILISATIONS), draw.randrange(1, 4))
    seconds = SHORTEST * (longest / SHORTEST) ** draw.random()
    return Run(name, family, draw.choice(EVICTIONS), draw.choice(PER_NODE), seconds)


def measure(run: Run, clock: Clock) -> Measured:
    """Plan, let the rule run, and compare."""
    try:
        cluster, _ = make_family(run.family)
    except ValueError:  # no pod of such a cluster waits for room
        cluster, _ = make_family(Family(run.family.size, 0, run.family.utilisation, run.family.seed))
    told: list[float] = []

    def progress(text: str) -> None:
        if text.startswith("planning:"):
            told.append(clock.monotonic())

    began, wall, cpu = clock.monotonic(), time.perf_counter(), time.process_time()
    plan = make_plan(cluster, run.policy, CycleOptions(clock, progress=progress))
    ended, wall, cpu = clock.monotonic(), time.perf_counter() - wall, time.process_time() - cpu
    before = (told[0] if told else ended) - began
    ours, rule = compared(run, cluster, plan, clock, run.deadline_seconds - before)
    result = plan.objectives[0]
    row = Measured(run, len(cluster.pods), wall, cpu, ours, rule, result.status.value)
    latest = max(before, run.deadline_seconds) * (1 + LATE_SHARE) + LATE_SECONDS
    if ended - began > latest:
        row.faults.append(f"{ended - began - run.deadline_seconds:.2f} s late (eligibility took {before:.2f})")
    if ours < rule - _SAME * max(1.0, abs(rule)):
        row.faults.append(f"{ours:g}, the rule {rule:g}")
    row.faults += [warning for warning in plan.warnings if "withdrawn" in warning]
    return row


def compared(run: Run, cluster: Cluster, plan: Plan, clock: Clock, seconds: float) -> tuple[float, float]:
    """What plan and rule reach; more is better."""
    cluster = DEFAULTS.configured(cluster)
    eligibility = decide_eligibility(cluster, run.policy, Selection(), DEFAULTS.names)
    prediction = DEFAULTS.model(cluster, is_for_planning=True)
    request = PlanRequest(prediction, Placement(prediction.columns), eligibility, True, 1.0, 0, clock)
    objective = _objective(run.policy, request)
    rules: dict[str, Callable[..., float]] = {
        "EmptyNodes": emptied_with_fewest_pods_first,
        "MakeRoom": helped_at_first_node,
    }
    result = plan.objectives[0]
    if run.objective in rules:
        rule = rules[run.objective](prediction, eligibility, Deadline(clock, seconds))
        helped = 0 if result.helped is UNSET else result.helped
        return float(helped if run.objective == "MakeRoom" else result.value or 0), rule
    index = {pod.key: number for number, pod in enumerate(cluster.pods)}
    deadline = Deadline(clock, seconds)
    problem = problem_of(request)
    state = _state(objective, problem)
    start = float(state.cost)
    rule = start
    if run.objective != "SchedulerScore":
        rule = cost_of_first_gains(_state(objective, problem), problem, request, deadline)
    for move in plan.moves:
        state.move(problem.row_of_movable[index[move.pod.key]], prediction.columns.node_index[move.to_node])
    return start - float(state.cost), start - rule


def _state(objective: PlanningObjective, problem: Problem) -> ObjectiveState:
    """What rule and plan are measured by; SpreadLoad brings no node above its target."""
    if isinstance(objective, SpreadLoad):
        return LoadState(problem, objective.observed, objective.args.target, is_strict=True)
    return objective.state(problem)


def _objective(policy: Policy, request: PlanRequest) -> PlanningObjective:
    columns, arguments = request.prediction.columns, arguments_of(policy.objectives[0])
    observed = None
    if isinstance(arguments, SpreadLoadArgs):
        observed = observed_use(columns, None, arguments.statistic, tuple(arguments.target))
    return objectives_of(policy, ObjectiveSetting(columns, observed))[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promises", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=max(SIZES), help="most nodes")
    parser.add_argument("--longest", type=float, default=60.0, help="longest deadline, in seconds")
    parser.add_argument("--objectives", type=lambda text: text.split(","), default=list(ARGUMENTS))
    parser.add_argument("--cpu-clock", action="store_true", help="deadlines in processor time, beside other work")
    parser.add_argument("-o", "--output", type=Path, help="file for all rows as JSON")
    return parser


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    raise SystemExit(main())
