"""Benchmark: nodes emptied at every budget of evictions, beside the bound and what others would empty.

``python -m benchmarks.empty_nodes --families [--sizes S,M,L] [--deadline D] [--seeds 1,2,3] [-o FILE]`` plans for the
synthetic clusters of ``benchmarks/instances.py``, once counting nodes and once with prices. Without ``--deadline`` each
cell has its own. An evaluator of its own replays every plan.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.empty_nodes.baselines import emptied_one_by_one
from benchmarks.empty_nodes.judge import judge_emptying
from benchmarks.instances import NODE_TYPES, Family, make_family
from benchmarks.machine import MonotonicClock, ProcessorClock, describe_machine, peak_megabytes
from rescheduler.extension_points import Clock
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility, MoveLimits
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.objective import plan_emptying
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.values import parse_positive_duration
from rescheduler.scheduling.scheduler_model import SchedulerModel

SHARES = (0.01, 0.04, 0.12, None)  # evictions by pods; None: no limit
DEADLINES = {"S": (1.0, 2.0, 2.0, 2.0), "M": (2.0, 2.0, 15.0, 15.0), "L": (2.0, 5.0, 60.0, 60.0)}
UTILISATIONS = (0.55, 0.70)
HEADER = (
    "instance", "E", "deadline", "value", "bound", "gap", "nodes", "evictions", "waves", "least waves", "seconds",
    "cpu", "MB", "HighNodeUtil.", "by pods", "by use", "judge",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One row: a cluster, a budget and a deadline."""

    family: Family
    evictions: int | None
    deadline_seconds: float
    has_prices: bool
    clock: Clock


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code, 1 if the evaluator faults a plan."""
    options = _parser().parse_args(arguments)
    print(f"# {describe_machine()}; wall and CPU seconds")
    _print_row(HEADER)
    _print_row(["---"] * len(HEADER))
    rows = []
    clock = ProcessorClock() if options.cpu_clock else MonotonicClock()
    for size in options.sizes:
        for utilisation in options.utilisations:
            for seed in options.seeds if size != "L" else options.seeds[:1]:
                family = Family(size, 0, utilisation, seed)
                rows += list(_rows_of(family, options.deadline, clock, has_prices=options.prices))
    if options.output is not None:
        options.output.write_text(json.dumps({"machine": describe_machine(), "rows": rows}) + "\n")
    return int(any(row["judge"] != "passed" for row in rows))


def _rows_of(
    family: Family, deadline_seconds: float | None, clock: Clock, *, has_prices: bool
) -> Iterator[dict[str, Any]]:
    cluster, eligibility = make_family(family)
    prediction = SchedulerModel(columns_of(cluster))
    pods = len(eligibility.movable)
    for share, usual in zip(SHARES, DEADLINES[family.size], strict=True):
        evictions = None if share is None else round(share * pods)
        cell = Cell(family, evictions, deadline_seconds or usual, has_prices, clock)
        row = measure(cell, cluster, prediction, eligibility)
        _print_row([str(value) for value in row.values()])
        yield row


def measure(cell: Cell, cluster: Cluster, prediction: SchedulerModel, eligibility: Eligibility) -> dict[str, Any]:
    """One row; the time is that of planning, from the columns of the cluster to the answer."""
    limited = Eligibility(eligibility.movable, {}, (), {}, eligibility.groups, MoveLimits(max_evictions=cell.evictions))
    price = prices_of(cluster) if cell.has_prices else None
    wall, cpu = time.perf_counter(), time.process_time()
    answer = plan(prediction, limited, cell, price)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_megabytes()
    waves: list[list[tuple[int, int]]] = [[] for _ in range(max((move.wave for move in answer.moves), default=0))]
    for move in answer.moves:
        waves[move.wave - 1].append((move.pod, move.to_node))
    verdict = judge_emptying(cluster, limited, waves)
    if verdict.emptied != frozenset(answer.closes):
        verdict.faults.append(f"{len(verdict.emptied)} nodes are emptied; the plan says {len(answer.closes)}")
    if cell.evictions is not None and verdict.evictions > cell.evictions:
        verdict.faults.append(f"{verdict.evictions} evictions; allowed are {cell.evictions}")
    return {
        "instance": cell.family.name.replace(" K=0", "") + (" prices" if cell.has_prices else ""),
        "E": "none" if cell.evictions is None else cell.evictions,
        "deadline": cell.deadline_seconds,
        "value": round(answer.value, 2),
        "bound": round(answer.bound or 0.0, 2),
        "gap": f"{100 * (answer.gap or 0.0):.1f} %",
        "nodes": len(answer.closes),
        "evictions": verdict.evictions,
        "waves": len(waves),
        "leastWaves": verdict.fewest_waves,
        "seconds": round(wall, 2),
        "cpu": round(cpu, 2),
        "MB": peak,
        **{
            rule: emptied_one_by_one(prediction, limited, cell.evictions, rule)
            for rule in ("under-utilised", "pods", "utilisation")
        },
        "judge": verdict.faults[0] if verdict.faults else "passed",
    }


def plan(prediction: SchedulerModel, eligibility: Eligibility, cell: Cell, price: FloatArray | None) -> ObjectivePlan:
    """Ask the planner."""
    request = PlanRequest(
        prediction=prediction,
        placement=Placement(prediction.columns),
        eligibility=eligibility,
        is_guided_by_holds=True,
        deadline_seconds=cell.deadline_seconds,
        seed=cell.family.seed,
        clock=cell.clock,
    )
    deadline = Deadline(request.clock, request.deadline_seconds)
    return plan_emptying(EmptyingSituation(request, price), request, deadline, closes_empty=True)


def prices_of(cluster: Cluster) -> FloatArray:
    """A price a month by type of node: 25 a core and 3 a GiB, and a little more for the larger."""
    found = []
    for node in cluster.nodes:
        amounts = dict(node.allocatable)
        cores, gibibytes = amounts["cpu"] / 1000, amounts["memory"] / 2**30
        found.append(round((25 * cores + 3 * gibibytes) * (1.0 + 0.01 * NODE_TYPES.index((cores, gibibytes))), 2))
    return np.array(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.empty_nodes", description=__doc__)
    parser.add_argument("--families", action="store_true", help="run the synthetic families (there is nothing else)")
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=["S", "M", "L"])
    parser.add_argument("--utilisations", type=_numbers, default=UTILISATIONS)
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--prices", action="store_true", help="with prices by type of node in place of counting")
    parser.add_argument("--cpu-clock", action="store_true", help="deadlines in processor time, beside other work")
    parser.add_argument(
        "--deadline", type=parse_positive_duration, help="planning time of each plan (default: by cell)"
    )
    parser.add_argument("-o", "--output", type=Path, help="file for all rows as JSON")
    return parser


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _print_row(cells: Sequence[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
