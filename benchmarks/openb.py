"""Benchmark: as many nodes emptied as possible, then as few evictions as possible, on a large cluster.

``python -m benchmarks.openb --data PATH --deadline 10s --seed N -o RESULT.json``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.command_line import answer, parser_for
from benchmarks.drain import read_drainage
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.packing.most_nodes import empty_most_nodes
from benchmarks.packing.ordering import ordered_moves
from benchmarks.snapshot_form import Snapshot
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.problem.deadline import Deadline


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("openb", __doc__, deadline_seconds=10.0)
    options = parser.parse_args(arguments)
    return answer(options, read_drainage, lambda found: run(*found, options.deadline, options.seed))


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


if __name__ == "__main__":
    raise SystemExit(main())
