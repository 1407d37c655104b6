"""Benchmark: the fewest evictions that bring every node of a cluster below a mark.

``python -m benchmarks.spread --data PATH --mark 0.95 --deadline 10s --seed N -o RESULT.json``; what pods ask for stands
in for what they use, since the snapshot form has no usage.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.command_line import answer, parser_for
from benchmarks.drain import read_drainage
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.packing.ordering import ordered_moves
from benchmarks.packing.relief import relieve
from benchmarks.snapshot_form import Snapshot
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.problem.deadline import Deadline


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("spread", __doc__, deadline_seconds=10.0)
    parser.add_argument("--mark", type=_fraction, default=0.95, help="fraction of capacity, 0 to 1")
    options = parser.parse_args(arguments)
    return answer(options, read_drainage, lambda found: run(*found, options.mark, options.deadline, options.seed))


def run(snapshot: Snapshot, drainage: Drainage, mark: float, deadline_seconds: float, seed: int) -> dict[str, Any]:
    """Plan once; value counts moves."""
    started = time.perf_counter()
    relief = relieve(drainage, mark, Deadline(MonotonicClock(), deadline_seconds), seed)
    moves = ordered_moves(drainage, relief.node_of)
    seconds = time.perf_counter() - started
    return {
        "instance": snapshot.name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": len(moves or []),
        "bound": relief.bound,
        "result": {
            "mark": mark,
            "hotBefore": relief.hot_before,
            "hotAfter": relief.hot_after if moves is not None else relief.hot_before,
            "moves": [[snapshot.pod_names[pod], snapshot.node_names[node]] for pod, node in moves or []],
        },
    }


def _fraction(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(text)
    return value


if __name__ == "__main__":
    raise SystemExit(main())
