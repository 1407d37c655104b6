"""Benchmark: the whole loop from decoded objects to a proven plan in waves, with every step that a command takes.

``python -m benchmarks.loop --data PATH --deadline 10s --seed N -o RESULT.json``: eligibility, predicted scheduler, make
room, waves, proof. Every running pod may move; nothing limits the plan but the deadline.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.command_line import answer, parser_for
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.snapshot_form import Snapshot, as_cluster, read_snapshots
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.plan import Plan
from rescheduler.policy.models import Disruption, Limits, Permission, Policy, Workloads


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("loop", __doc__, deadline_seconds=10.0)
    options = parser.parse_args(arguments)
    name, deadline, seed = options.data.name, options.deadline, options.seed
    return answer(options, read_snapshots, lambda found: run(found, name, deadline, seed))


def run(snapshots: Sequence[Snapshot], name: str, deadline_seconds: float, seed: int) -> dict[str, Any]:
    """Plan for each instance; value and bound are sums of evictions."""
    results, seconds, value, bound = [], 0.0, 0.0, 0.0
    for snapshot in snapshots:
        started = time.perf_counter()
        plan = plan_for(snapshot, deadline_seconds, seed)
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


def plan_for(snapshot: Snapshot, deadline_seconds: float, seed: int) -> Plan:
    """One cycle with a policy that allows everything that a scheduler could repair."""
    policy = Policy(
        limits=Limits(max_evictions=len(snapshot.pod_names), deadline=deadline_seconds),
        disruption=Disruption(
            workloads=Workloads(max_unavailable=len(snapshot.pod_names)),
            single_replicas=Permission.ALLOW,
            ownerless=Permission.ALLOW,
        ),
    )
    return make_plan(as_cluster(snapshot), policy, CycleOptions(MonotonicClock(), seed=seed))


def _result(snapshot: Snapshot, plan: Plan) -> dict[str, Any]:
    objective = plan.objectives[0]
    node = snapshot.node_names
    pod = snapshot.pod_names
    return {
        "status": str(objective.status),
        "helped": objective.helped,
        "wanted": objective.wanted,
        "evictions": len(plan.moves),
        "waves": max((move.wave for move in plan.moves), default=0),
        "moves": [[pod[int(move.pod.name)], node[int(move.to_node)], move.wave] for move in plan.moves],
        "placements": [[pod[int(place.pod.name)], node[int(place.node)], place.wave] for place in plan.placements],
    }


if __name__ == "__main__":
    raise SystemExit(main())
