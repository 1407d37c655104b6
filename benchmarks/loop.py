"""Benchmark: the whole loop from decoded objects to a proven plan in waves, with every step that a command takes.

``python -m benchmarks.loop --data PATH [--objective NAME] [--max-evictions N] --deadline 10s --seed N -o RESULT.json``:
eligibility, predicted scheduler, planner (MakeRoom unless others are named), waves, proof. Every running pod may move;
nothing but what is given limits the plan.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.command_line import answer, parser_for
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.snapshot_form import Snapshot, as_cluster, read_snapshots
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.plan.plan import ObjectiveResult, Plan
from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.policy.fields.policy import Disruption, Limits, Permission, Policy, Workloads
from rescheduler.policy.reading.overrides import overridden


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("loop", __doc__, deadline_seconds=10.0)
    parser.add_argument("--objective", action="append", metavar="NAME", help="in order [default: MakeRoom]")
    parser.add_argument("--max-evictions", type=int, metavar="N", help="evictions in one plan [default: any number]")
    options = parser.parse_args(arguments)
    asked = Asked(tuple(options.objective or ("MakeRoom",)), options.max_evictions, options.deadline, options.seed)
    return answer(options, read_snapshots, lambda found: run(found, options.data.name, asked))


class Asked(NamedTuple):
    """What each plan is for, and its limits (None: none)."""

    objectives: tuple[str, ...]
    max_evictions: int | None
    deadline_seconds: float
    seed: int


def run(snapshots: Sequence[Snapshot], name: str, asked: Asked) -> dict[str, Any]:
    """Plan for each instance; value and bound are sums over instances and objectives."""
    results, seconds, value, bound = [], 0.0, 0.0, 0.0
    for snapshot in snapshots:
        started = time.perf_counter()
        plan = plan_for(snapshot, asked)
        seconds += time.perf_counter() - started
        value += sum(result.value or 0 for result in plan.objectives)
        bound += sum(result.bound or 0 for result in plan.objectives)
        results.append(_result(snapshot, plan))
    return {
        "instance": name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": value,
        "bound": bound,
        "result": results[0] if len(results) == 1 else results,
    }


def plan_for(snapshot: Snapshot, asked: Asked) -> Plan:
    """One cycle with a policy that allows everything that a scheduler could repair."""
    most = len(snapshot.pod_names) if asked.max_evictions is None else asked.max_evictions
    policy = Policy(
        limits=Limits(max_evictions=most, deadline=asked.deadline_seconds),
        disruption=Disruption(
            workloads=Workloads(max_unavailable=len(snapshot.pod_names)),
            single_replicas=Permission.ALLOW,
            ownerless=Permission.ALLOW,
        ),
    )
    policy = overridden(policy, OBJECTIVES, objectives=asked.objectives)
    return make_plan(as_cluster(snapshot), policy, CycleOptions(MonotonicClock(), seed=asked.seed))


def _result(snapshot: Snapshot, plan: Plan) -> dict[str, Any]:
    node = snapshot.node_names
    pod = snapshot.pod_names
    return {
        "objectives": [_told(objective) for objective in plan.objectives],
        "evictions": len(plan.moves),
        "waves": max((move.wave for move in plan.moves), default=0),
        "moves": [[pod[int(move.pod.name)], node[int(move.to_node)], move.wave] for move in plan.moves],
        "placements": [[pod[int(place.pod.name)], node[int(place.node)], place.wave] for place in plan.placements],
    }


def _told(objective: ObjectiveResult) -> dict[str, Any]:
    told = {"name": objective.name, "status": str(objective.status), "value": objective.value, "bound": objective.bound}
    helped = {"helped": objective.helped, "wanted": objective.wanted}
    return told | (helped if isinstance(objective.helped, int) else {})


if __name__ == "__main__":
    raise SystemExit(main())
