"""Benchmark: the fewest evictions that make room for pending pods.

``python -m benchmarks.make_room --data PATH --deadline DURATION --seed N -o RESULT.json`` plans for one file in the
snapshot form; ``python -m benchmarks.make_room --families`` prints the table of the synthetic families.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.capacity_prediction import CapacityPrediction
from benchmarks.command_line import answer
from benchmarks.evaluator import judge
from benchmarks.families import print_families
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.promises import ProcessClock
from benchmarks.snapshot_form import Snapshot, as_cluster, read_snapshots
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.planning.objectives.make_room.objective import MakeRoom
from rescheduler.planning.problem.objective import ObjectiveSetting
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.objectives import MakeRoomArgs
from rescheduler.policy.fields.values import parse_duration


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.families:
        clock = ProcessClock() if options.cpu_clock else MonotonicClock()
        print_families(options.sizes.split(","), options.deadline, options.seed, clock)
        return 0
    if options.data is None:
        print("--data PATH or --families is needed", file=sys.stderr)
        return 2
    name, deadline, seed = options.data.name, options.deadline, options.seed
    return answer(options, read_snapshots, lambda found: run(found, name, deadline, seed))


def run(snapshots: Sequence[Snapshot], name: str, deadline_seconds: float, seed: int) -> dict[str, Any]:
    """Plan for each instance; several instances make sums and a list of results in file order."""
    results, seconds, bound = [], 0.0, 0
    for snapshot in snapshots:
        started = time.perf_counter()
        answer = plan_for(snapshot, deadline_seconds, seed)
        seconds += time.perf_counter() - started
        bound += answer.bound
        results.append(_result(snapshot, answer))
    return {
        "instance": name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": sum(result["evictions"] for result in results),
        "bound": bound,
        "result": results[0] if len(results) == 1 else results,
    }


def plan_for(snapshot: Snapshot, deadline_seconds: float, seed: int) -> ObjectivePlan:
    """Plan with all running pods movable, without groups or limits."""
    clock = MonotonicClock()
    begin = clock.monotonic()
    columns = columns_of(as_cluster(snapshot))
    running = [number for number, home in enumerate(snapshot.homes) if home is not None]
    waiting = [number for number, home in enumerate(snapshot.homes) if home is None]
    return MakeRoom(MakeRoomArgs(), ObjectiveSetting(columns)).plan(
        PlanRequest(
            prediction=CapacityPrediction(columns),
            placement=Placement(columns),
            eligibility=Eligibility(movable=tuple(running), refusals={}, helpable=tuple(waiting), not_helpable={}),
            is_guided_by_holds=True,
            deadline_seconds=max(0.0, deadline_seconds - (clock.monotonic() - begin)),
            seed=seed,
            clock=clock,
        )
    )


def _result(snapshot: Snapshot, answer: ObjectivePlan) -> dict[str, Any]:
    """The plan in the file's own names; a plan that the evaluator faults is a failure of the benchmark."""
    moves = [(move.pod, move.to_node) for move in answer.moves]
    placements = [(place.pod, place.node) for place in answer.placements]
    verdict = judge(snapshot, moves, placements)
    if verdict.faults:
        raise AssertionError(f"{snapshot.name}: {verdict.faults[:3]}")
    pods, nodes = snapshot.pod_names, snapshot.node_names
    return {
        "evictions": verdict.evictions,
        "moves": [[pods[pod], nodes[node]] for pod, node in moves],
        "placements": [[pods[pod], nodes[node]] for pod, node in placements],
        "helped": answer.helped,
        "wanted": answer.wanted,
        "status": answer.status.value,
        "bound": answer.bound,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_room", description=__doc__)
    parser.add_argument("--data", type=Path, help="a file in the snapshot form, plain or xz")
    parser.add_argument("--deadline", type=_duration, default=10.0, help="planning time of each plan, such as 5s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="where to write the result (default: standard output)")
    parser.add_argument("--families", action="store_true", help="run the synthetic families instead and print a table")
    parser.add_argument("--sizes", default="S,M,L", help="which families: S (50 nodes), M (500), L (5,000)")
    parser.add_argument("--cpu-clock", action="store_true", help="families in processor time, beside other work")
    return parser


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


if __name__ == "__main__":
    sys.exit(main())
