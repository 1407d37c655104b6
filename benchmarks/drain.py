"""Benchmark: the fewest moves that empty k nodes of a cluster, for several k.

``python -m benchmarks.drain --data PATH --nodes 4,8,16 --deadline 10s --seed N -o RESULT.json``; the deadline is for
each k. Without ``--nodes`` every tenth of the nodes that could be spared is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command_line import answer, parser_for
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.packing.fewest_moves import empty_nodes
from benchmarks.packing.ordering import ordered_moves
from benchmarks.snapshot_form import InstanceError, Snapshot, read_snapshots
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, drainage_of
from rescheduler.planning.problem.deadline import Deadline


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("drain", __doc__, deadline_seconds=10.0)
    parser.add_argument("--nodes", type=_counts, help="k1,k2,…: how many nodes shall be empty at the end")
    options = parser.parse_args(arguments)

    def plan(found: tuple[Snapshot, Drainage]) -> dict[str, Any]:
        return run(*found, options.nodes or some_counts(found[1]), options.deadline, options.seed)

    return answer(options, read_drainage, plan)


def read_drainage(path: Path) -> tuple[Snapshot, Drainage]:
    """One instance, as it is and as arrays. Raises InstanceError for several, and for pods without a node."""
    snapshots = read_snapshots(path)
    if len(snapshots) != 1:
        raise InstanceError(f"{path}: holds {len(snapshots)} clusters; wanted one")
    snapshot = snapshots[0]
    if None in snapshot.homes:
        pod = snapshot.pod_names[snapshot.homes.index(None)]
        raise InstanceError(f"{snapshot.name}: pod {pod!r} has no node; only running pods can be moved off nodes")
    width = len(snapshot.resources)
    return snapshot, drainage_of(
        np.array(snapshot.capacities, dtype=np.int64).reshape(-1, width),
        np.array(snapshot.requests, dtype=np.int64).reshape(-1, width),
        np.array(snapshot.homes, dtype=np.int64),
    )


def run(
    snapshot: Snapshot, drainage: Drainage, counts: Sequence[int], deadline_seconds: float, seed: int
) -> dict[str, Any]:
    """Plan for each k; value and bound are sums over the k that were reached."""
    results: list[dict[str, Any]] = []
    seconds = 0.0
    value = bound = 0
    for count in counts:
        started = time.perf_counter()
        entry, least = _plan(snapshot, drainage, count, deadline_seconds, seed)
        seconds += time.perf_counter() - started
        if entry["drained"] is not None:
            value += len(entry["moves"])
            bound += least
        results.append(entry)
    return {
        "instance": snapshot.name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": value,
        "bound": bound,
        "result": results,
    }


def some_counts(drainage: Drainage) -> list[int]:
    """Tenths of the nodes that could be spared if pods were as fine as sand."""
    spare = 1.0 - drainage.request.sum(axis=0) / np.maximum(1, drainage.capacity.sum(axis=0))
    most = int(spare.min() * drainage.node_count)
    return sorted({max(1, most * tenth // 10) for tenth in range(1, 11)})


def _plan(
    snapshot: Snapshot, drainage: Drainage, count: int, deadline_seconds: float, seed: int
) -> tuple[dict[str, Any], int]:
    answer = empty_nodes(drainage, count, Deadline(MonotonicClock(), deadline_seconds), seed)
    moves = None if answer.best is None else ordered_moves(drainage, answer.best.node_of)
    if answer.best is None or moves is None:
        return {"k": count, "drained": None, "moves": [], "bound": answer.bound}, answer.bound
    return {
        "k": count,
        "drained": [snapshot.node_names[node] for node in answer.best.emptied],
        "moves": [[snapshot.pod_names[pod], snapshot.node_names[node]] for pod, node in moves],
        "bound": answer.bound,
    }, answer.bound


def _counts(text: str) -> list[int]:
    counts = [int(part) for part in text.split(",")]
    if min(counts) < 0:
        raise ValueError(text)
    return counts


if __name__ == "__main__":
    raise SystemExit(main())
