"""Runs the synthetic families and prints one table: ours, its bound, and what one would take instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.baselines import Baseline, BaselineResult
from benchmarks.instances import Family, make_family
from benchmarks.machine import MonotonicClock, describe_machine, peak_megabytes
from rescheduler.checker.checker import check_plan
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import MAKE_ROOM, Plan
from rescheduler.planning.lexicographic.document import plan_document
from rescheduler.planning.lexicographic.lexicographic import PlanInProgress
from rescheduler.planning.objectives.make_room.objective import MakeRoom
from rescheduler.planning.problem.objective import ObjectiveSetting
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.objectives import MakeRoomArgs
from rescheduler.scheduling.scheduler_model import SchedulerModel

ROWS = (
    ("S", 1, 0.80), ("S", 1, 0.90), ("S", 5, 0.80), ("S", 5, 0.86), ("S", 20, 0.80),
    ("M", 1, 0.89), ("M", 5, 0.80), ("M", 10, 0.80), ("M", 20, 0.80), ("M", 20, 0.75), ("M", 30, 0.80), ("M", 50, 0.86),
    ("L", 1, 0.89), ("L", 5, 0.80), ("L", 20, 0.80), ("L", 50, 0.80),
)  # fmt: skip
HEADER = (
    "instance",
    "pods",
    "status",
    "helped",
    "evictions",
    "bound",
    "gap",
    "seconds",
    "MB",
    "first node",
    "preemption",
    "check",
)


def print_families(sizes: Sequence[str], deadline_seconds: float, seed: int, clock: MonotonicClock) -> None:
    """Print the table row by row as it is measured."""
    print(f"# {describe_machine()}; deadline {deadline_seconds:g} s a plan; seed {seed}")
    print(_line(HEADER))
    print("|" + "|".join("---" for _ in HEADER) + "|")
    for size, pending, utilisation in ROWS:
        if size in sizes:
            print(_line(measure(Family(size, pending, utilisation, seed), deadline_seconds, clock)), flush=True)


def measure(family: Family, deadline_seconds: float, clock: MonotonicClock) -> list[str]:
    """One row. The time, by the clock, is that of planning, from the columns of the cluster to the answer."""
    cluster, eligibility = make_family(family)
    prediction = SchedulerModel(columns_of(cluster))
    started = clock.monotonic()
    answer = _plan(prediction, eligibility, deadline_seconds, family.seed, clock)
    seconds = clock.monotonic() - started
    peak = peak_megabytes()
    faults = check_plan(cluster, _document(prediction, eligibility, answer, seconds), eligibility)
    first = Baseline(prediction, eligibility).first_node_that_works()
    greedy = Baseline(prediction, eligibility).preemption_style()
    return [
        family.name,
        f"{len(cluster.pods):,}",
        answer.status.value,
        f"{answer.helped}/{answer.wanted}",
        str(answer.value),
        str(answer.bound),
        f"{100 * (answer.gap or 0.0):.1f} %",
        f"{seconds:.2f}",
        f"{peak:.0f}",
        *(_told(result, answer) for result in (first, greedy)),
        faults[0].message if faults else "passed",
    ]


def _plan(
    prediction: SchedulerModel, eligibility: Eligibility, deadline_seconds: float, seed: int, clock: MonotonicClock
) -> ObjectivePlan:
    return _objective(prediction).plan(
        PlanRequest(
            prediction=prediction,
            placement=Placement(prediction.columns),
            eligibility=eligibility,
            is_guided_by_holds=True,
            deadline_seconds=deadline_seconds,
            seed=seed,
            clock=clock,
        )
    )


def _objective(prediction: SchedulerModel) -> MakeRoom:
    return MakeRoom(MakeRoomArgs(), ObjectiveSetting(prediction.columns))


def _document(prediction: SchedulerModel, eligibility: Eligibility, answer: ObjectivePlan, seconds: float) -> Plan:
    """The plan as users read it, and as the checker does."""
    so_far = PlanInProgress(Placement(prediction.columns), eligibility)
    so_far.moves = [(MAKE_ROOM, move) for move in answer.moves]
    so_far.placements = list(answer.placements)
    so_far.answers = [(_objective(prediction), answer, seconds)]
    return plan_document(prediction, eligibility, so_far)


def _told(result: BaselineResult, answer: ObjectivePlan) -> str:
    helped = "" if result.helped == answer.wanted else f" (helps {result.helped})"
    return f"{result.evictions}{helped}"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
