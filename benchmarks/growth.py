"""Benchmark: time and memory of a consolidation as the cluster grows, beside the simple rule.

``python -m benchmarks.growth [--nodes 500,2000,…] [--evictions 500,none] [--deadline 60s] [-o FILE]`` plans EmptyNodes
for one synthetic cluster of each size, as ``rescheduler plan`` does from the decoded snapshot on, each in a process of
its own; *MB* is the most that it held, *cluster* what it held of that when the snapshot was there and nothing was
planned. Beside it the nodes that are emptied one after the other, those with the fewest pods first, in the time that
deciding leaves. Exit 1 where that is more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command_line import write_result
from benchmarks.instances import Family, make_family
from benchmarks.machine import describe_machine, peak_megabytes
from benchmarks.promises import NO_LIMIT, ProcessClock, Run, compared
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.policy.fields.values import parse_positive_duration

HEADER = (
    "nodes", "pods", "evictions", "ours", "bound", "rule", "moves", "deciding", "planning", "proving", "seconds",
    "cluster", "MB",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; a table in Markdown, times in seconds of processor time."""
    options = _parser().parse_args(arguments)
    if options.one:
        print(json.dumps(row(options.nodes[0], options.evictions[0], options.deadline, options.seed)))
        return 0
    rows = []
    print(f"# {describe_machine()}; processor time")
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    for evictions in options.evictions:
        for nodes in options.nodes:
            command = [sys.executable, "-m", "benchmarks.growth", "--one", "--nodes", str(nodes)]
            command += ["--evictions", str(evictions), "--deadline", f"{options.deadline:g}s"]
            command += ["--seed", str(options.seed)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append(json.loads(answer.splitlines()[-1]))
            print(f"| {' | '.join(str(rows[-1][name]) for name in HEADER)} |", flush=True)
    if options.output is not None:
        write_result({"machine": describe_machine(), "rows": rows}, options.output)
    return int(any(found["ours"] < found["rule"] for found in rows))


def row(nodes: int, evictions: int, deadline_seconds: float, seed: int) -> dict[str, Any]:
    """Plan for one size in this process."""
    run = Run("EmptyNodes", Family(str(nodes), 0, 0.7, seed), evictions, NO_LIMIT, deadline_seconds)
    clock, told = ProcessClock(), dict[str, float]()
    cluster, _ = make_family(run.family)
    held = peak_megabytes()

    def progress(text: str) -> None:
        told.setdefault("planning" if text.startswith("planning:") else text, clock.monotonic())

    began = clock.monotonic()
    plan = make_plan(cluster, run.policy, CycleOptions(clock, progress=progress))
    ended, most = clock.monotonic(), peak_megabytes()
    decided, planned = told["planning"], told["proving the plan"]
    ours, rule = compared(run, cluster, plan, clock, run.deadline_seconds - (decided - began))
    times = (decided - began, planned - decided, ended - planned, ended - began)
    values = (
        f"{nodes:,}", f"{len(cluster.pods):,}", "none" if evictions >= NO_LIMIT else evictions, round(ours),
        plan.objectives[0].bound, round(rule), len(plan.moves), *(round(seconds, 2) for seconds in times), held, most,
    )  # fmt: skip
    return dict(zip(HEADER, values, strict=True))


def _evictions(text: str) -> list[int]:
    return [NO_LIMIT if word == "none" else int(word) for word in text.split(",")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--nodes",
        type=lambda text: [int(word) for word in text.split(",")],
        default=[500, 2_000, 5_000, 15_000, 50_000],
    )
    parser.add_argument("--evictions", type=_evictions, default=[500], help="of the whole plan; none: no limit")
    parser.add_argument("--deadline", type=parse_positive_duration, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, help="file for all rows as JSON")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
