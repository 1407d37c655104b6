"""Benchmark: as many nodes emptied as possible, then as few evictions as possible, on a large cluster.

``python -m benchmarks.openb --data PATH --deadline 10s --seed N -o RESULT.json``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.drain import read_drainage
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.result_file import write_result
from benchmarks.snapshot_form import InstanceError, Snapshot
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.empty_nodes.drainage import Drainage
from rescheduler.planning.empty_nodes.most_nodes import empty_most_nodes
from rescheduler.planning.empty_nodes.ordering import ordered_moves
from rescheduler.policy.values import parse_positive_duration


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        snapshot, drainage = read_drainage(options.data)
    except (InstanceError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    write_result(run(snapshot, drainage, options.deadline, options.seed), options.output)
    return 0


def run(snapshot: Snapshot, drainage: Drainage, deadline_seconds: float, seed: int) -> dict[str, Any]:
    """Plan once; value and bound count the nodes emptied, those that were empty before left out."""
    started = time.perf_counter()
    plan, bound = empty_most_nodes(drainage, Deadline(MonotonicClock(), deadline_seconds), seed)
    moves = None if plan is None else ordered_moves(drainage, plan.node_of)
    seconds = time.perf_counter() - started
    is_used = drainage.pods_on > 0
    unused = int((~is_used).sum())
    drained = [node for node in plan.emptied if is_used[node]] if plan is not None and moves is not None else []
    return {
        "instance": snapshot.name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": len(drained),
        "bound": max(0, bound - unused),
        "result": {
            "drained": [snapshot.node_names[node] for node in drained],
            "moves": [[snapshot.pod_names[pod], snapshot.node_names[node]] for pod, node in moves or []],
            "evictions": len(moves or []),
        },
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.openb", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="one file in the snapshot form, plain or xz")
    parser.add_argument("--deadline", type=parse_positive_duration, default=10.0, help="planning time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="file for the result (default: standard output)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
