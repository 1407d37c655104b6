"""Benchmark: pending pods placed by priority in small clusters; every pod may be moved or evicted.

``python -m benchmarks.podpack --data PATH --deadline 1s --seed N -o RESULT.json``; the deadline is for each instance.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.command_line import answer, parser_for
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.packing.by_priority import Packing, pack_by_priority
from benchmarks.snapshot_form import Snapshot, read_snapshots
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import drainage_of
from rescheduler.planning.problem.deadline import Deadline

_SHARE_OF_DEADLINE = 0.93
"""The rest is for building models and reading answers back."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("podpack", __doc__, deadline_seconds=1.0)
    options = parser.parse_args(arguments)
    name, deadline, seed = options.data.name, options.deadline, options.seed
    return answer(options, read_snapshots, lambda found: run(found, name, deadline, seed))


def run(snapshots: Sequence[Snapshot], name: str, deadline_seconds: float, seed: int) -> dict[str, Any]:
    """Plan for each instance; value and bound count placed pods of all priorities together."""
    results, seconds, value, bound = [], 0.0, 0, 0
    for snapshot in snapshots:
        started = time.perf_counter()
        packing = plan_for(snapshot, deadline_seconds, seed)
        seconds += time.perf_counter() - started
        value += sum(packing.placed)
        bound += sum(packing.bounds)
        results.append(_result(snapshot, packing))
    return {
        "instance": name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": value,
        "bound": bound,
        "result": results,
    }


def plan_for(snapshot: Snapshot, deadline_seconds: float, seed: int) -> Packing:
    """Pack one instance."""
    deadline = Deadline(MonotonicClock(), deadline_seconds * _SHARE_OF_DEADLINE)
    width = len(snapshot.resources)
    drainage = drainage_of(
        np.array(snapshot.capacities, dtype=np.int64).reshape(-1, width),
        np.array(snapshot.requests, dtype=np.int64).reshape(-1, width),
        np.array([NOWHERE if home is None else home for home in snapshot.homes], dtype=np.int64),
    )
    return pack_by_priority(drainage, np.array(snapshot.priorities, dtype=np.int64), deadline, seed)


def _result(snapshot: Snapshot, packing: Packing) -> dict[str, Any]:
    nodes = [None if node == NOWHERE else snapshot.node_names[node] for node in packing.node_of.tolist()]
    return {
        "placement": dict(zip(map(str, snapshot.pod_names), nodes, strict=True)),
        "placedByPriority": packing.placed,
        "boundByPriority": packing.bounds,
    }


if __name__ == "__main__":
    raise SystemExit(main())
