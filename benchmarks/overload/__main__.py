"""Benchmark: overload above a target that a limited number of evictions leaves, beside the bound and the usual choice.

``python -m benchmarks.overload --families [--sizes S,M,L] [--seeds 1,2,3] [--deadline D] [-o FILE]`` plans for the
synthetic clusters of ``benchmarks/instances.py``; pods use what they request times a seeded lognormal factor, and the
target is the 90th percentile of the nodes' use of cpu. An evaluator of its own replays every plan and adds up the use.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace as with_changes

from benchmarks.empty_nodes.judge import judge_emptying
from benchmarks.instances import Family, make_family
from benchmarks.machine import MonotonicClock, ProcessorClock, describe_machine, peak_megabytes
from benchmarks.overload.baseline import relieved_by_smallest_pods
from rescheduler.extension_points import Clock
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility, MoveLimits
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.objectives.spread_load.objective import SpreadLoad
from rescheduler.planning.problem.objective import ObjectiveSetting
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.objectives import SpreadLoadArgs
from rescheduler.policy.fields.values import parse_positive_duration
from rescheduler.scheduling.scheduler_model import SchedulerModel

UTILISATIONS = (0.70, 0.85)
EVICTIONS = (50, 500)
SPREAD, BIAS = 0.5, -0.125  # of the lognormal factor, whose mean is 1
HEADER = (
    "instance", "E", "target", "start", "bound", "ours", "of possible", "LowNodeUtil.", "moves", "guided", "waves",
    "seconds", "cpu", "MB", "judge",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code, 1 if the evaluator faults a plan."""
    options = _parser().parse_args(arguments)
    clock = ProcessorClock() if options.cpu_clock else MonotonicClock()
    print(f"# {describe_machine()}; overload in cores; wall and CPU seconds")
    _print_row(HEADER)
    _print_row(["---"] * len(HEADER))
    rows = []
    for size in options.sizes:
        for utilisation in UTILISATIONS:
            for seed in options.seeds if size != "L" else options.seeds[:1]:
                for row in _rows_of(Family(size, 0, utilisation, seed), options.deadline, clock):
                    _print_row([str(value) for value in row.values()])
                    rows.append(row)
    if options.output is not None:
        options.output.write_text(json.dumps({"machine": describe_machine(), "rows": rows}) + "\n")
    return int(any(row["judge"] != "passed" for row in rows))


def observed_use(cluster: Cluster, prediction: SchedulerModel, seed: int) -> ObservedUse:
    """Cpu only: what pods request, each times its own factor."""
    columns = prediction.columns
    factor = np.random.default_rng(seed).lognormal(BIAS, SPREAD, size=columns.pod_count)
    use = columns.requests[:1, columns.shape_of] * factor
    nodes = len(cluster.nodes)
    capacity = columns.allocatable[:1].astype(np.float64)
    return ObservedUse(("cpu",), capacity, use, np.zeros((1, nodes)), np.ones(nodes, dtype=np.bool_))


def percentile_of_use(cluster: Cluster, observed: ObservedUse) -> float:
    """90th percentile of the nodes' use of cpu, as a fraction; at most 1, since no target may ask for more."""
    use = _use_by_node(cluster, observed, {})
    shares = [amount / _cores(node) for amount, node in zip(use, cluster.nodes, strict=True)]
    return min(1.0, float(np.percentile(shares, 90)))


def _rows_of(family: Family, deadline_seconds: float, clock: Clock) -> Iterator[dict[str, Any]]:
    cluster, eligibility = make_family(family)
    prediction = SchedulerModel(columns_of(cluster))
    observed = observed_use(cluster, prediction, family.seed)
    target = percentile_of_use(cluster, observed)
    for evictions in EVICTIONS:
        limited = with_changes(eligibility, limits=MoveLimits(max_evictions=evictions))
        question = PlanRequest(
            prediction, Placement(prediction.columns), limited, True, deadline_seconds, family.seed, clock
        )
        yield measure(family, question, observed, target)


def measure(family: Family, question: PlanRequest, observed: ObservedUse, target: float) -> dict[str, Any]:
    """One row; the time is that of planning, from the columns of the cluster to the answer."""
    cluster = question.prediction.columns.cluster
    wall, cpu = time.perf_counter(), time.process_time()
    setting = ObjectiveSetting(question.prediction.columns, observed)
    answer = SpreadLoad(SpreadLoadArgs(target={"cpu": target}), setting).plan(question)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_megabytes()
    moves = {move.pod: move.to_node for move in answer.moves}
    start, ours = (_overload(cluster, observed, target, found) for found in ({}, moves))
    unit = float(observed.capacity.mean()) / 1000
    bound = (answer.bound or 0.0) * unit
    faults = _faults(cluster, question.eligibility, answer)
    if abs(answer.value * unit - ours) > 1e-3:
        faults.append(f"{ours:.3f} cores are left; the plan says {answer.value * unit:.3f}")
    baseline = relieved_by_smallest_pods(question, observed, target)
    return {
        "instance": family.name,
        "E": question.eligibility.limits.max_evictions,
        "target": round(target, 3),
        "start": round(start, 1),
        "bound": round(bound, 2),
        "ours": round(ours, 2),
        "of possible": f"{100 * (start - ours) / max(1e-9, start - bound):.1f} %",
        "LowNodeUtil.": round(_overload(cluster, observed, target, baseline), 1),
        "moves": len(moves),
        "guided": sum(move.needs_guidance for move in answer.moves),
        "waves": max((move.wave for move in answer.moves), default=0),
        "seconds": round(wall, 2),
        "cpu": round(cpu, 2),
        "MB": peak,
        "judge": faults[0] if faults else "passed",
    }


def _faults(cluster: Cluster, eligibility: Eligibility, answer: ObjectivePlan) -> list[str]:
    waves: list[list[tuple[int, int]]] = [[] for _ in range(max((move.wave for move in answer.moves), default=0))]
    for move in answer.moves:
        waves[move.wave - 1].append((move.pod, move.to_node))
    faults = judge_emptying(cluster, eligibility, waves).faults
    limit = eligibility.limits.max_evictions
    if limit is not None and len(answer.moves) > limit:
        faults.append(f"{len(answer.moves)} evictions; allowed are {limit}")
    return [fault for fault in faults if "that were empty" not in fault]  # here empty nodes are welcome


def _overload(cluster: Cluster, observed: ObservedUse, target: float, moves: dict[int, int]) -> float:
    """Cores above the target, added up in plain Python."""
    use = _use_by_node(cluster, observed, moves)
    return sum(max(0.0, amount - target * _cores(node)) for amount, node in zip(use, cluster.nodes, strict=True))


def _use_by_node(cluster: Cluster, observed: ObservedUse, moves: dict[int, int]) -> list[float]:
    number_of = {node.name: number for number, node in enumerate(cluster.nodes)}
    use = [0.0] * len(cluster.nodes)
    amounts: npt.NDArray[np.float64] = observed.of_pods[0]
    for pod, subject in enumerate(cluster.pods):
        if subject.node_name is not None:
            use[moves.get(pod, number_of[subject.node_name])] += float(amounts[pod]) / 1000
    return use


def _cores(node: Any) -> float:
    return float(dict(node.allocatable)["cpu"]) / 1000


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overload", description=__doc__)
    parser.add_argument("--families", action="store_true", help="the synthetic clusters (the default)")
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=["S", "M", "L"])
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--deadline", type=parse_positive_duration, default=10.0, help="planning time of each plan")
    parser.add_argument("--cpu-clock", action="store_true", help="count processor time against the deadline")
    parser.add_argument("-o", "--output", type=Path, help="file for the rows")
    return parser


def _print_row(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
