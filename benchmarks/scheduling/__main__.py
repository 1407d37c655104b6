"""Benchmark: one pod on 5,000 nodes, and 10,000 pods placed anew one after another.

``python -m benchmarks.scheduling [--data PATH] --seed N -o RESULT.json`` compares a plain path, the plugins one by one,
numpy, and numba if it is installed (``pip install kube-rescheduler[fast]``), in one process, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine, peak_megabytes
from benchmarks.scheduling.instance import make_cluster
from benchmarks.scheduling.measuring import Measured, measure
from benchmarks.scheduling.table import table
from benchmarks.snapshot_form import InstanceError, as_cluster, read_snapshots
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.extension_points import SnapshotError
from rescheduler.model.objects.cluster import Cluster


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        cluster = (
            make_cluster(options.nodes, options.pods, options.seed) if options.data is None else _read(options.data)
        )
    except (SnapshotError, InstanceError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    busy = os.getloadavg()[0]
    measured = measure(
        cluster, options.count, options.seed, has_plain=options.data is None, compiles=not options.numpy_only
    )
    report = _report(cluster, measured, busy)
    print(table(measured.rows))
    print(f"\n{report['machine']}; load when it began {busy:.2f}; compiling took {measured.warm_up_seconds:.1f} s")
    if options.output is not None:
        options.output.write_text(json.dumps(report) + "\n")
    return 0


def _read(path: Path) -> Cluster:
    """A recording as kubectl prints it, or else one object in the snapshot form."""
    try:
        return read_recording([str(path)])
    except SnapshotError as error:
        try:
            return as_cluster(read_snapshots(path)[0])
        except (InstanceError, IndexError):
            raise error from None


def _report(cluster: Cluster, measured: Measured, busy: float) -> dict[str, Any]:
    names = [pod.key for pod in cluster.pods]
    placed = [(pod, node) for pod, node in zip(measured.pods, measured.destinations, strict=True)]
    rows = [{"what": row.what, "how": row.how, "medianSeconds": row.times.median, "leastSeconds": row.times.least,
             "calls": row.calls, "timesFaster": row.ratio} for row in measured.rows]  # fmt: skip
    return {
        "instance": f"{measured.facts['nodes']} nodes, {measured.facts['pods']} pods, {cluster.source}",
        "seconds": round(measured.seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": sum(node >= 0 for _, node in placed),
        "bound": len(placed),
        "result": {
            "placements": [[names[pod], cluster.nodes[node].name if node >= 0 else None] for pod, node in placed],
            "measurements": rows,
            "warmUpSeconds": round(measured.warm_up_seconds, 2),
            **measured.facts,
        },
        "machine": describe_machine(),
        "load": busy,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scheduling", description=__doc__)
    parser.add_argument("--data", type=Path, help="a recording to measure on instead of the generated cluster")
    parser.add_argument("--deadline", help="accepted for the common form; nothing here has a deadline")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="where the result is written")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--count", type=int, default=10_000, help="pods to place one after another")
    parser.add_argument("--numpy-only", action="store_true", help="compile nothing, even where numba is installed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
