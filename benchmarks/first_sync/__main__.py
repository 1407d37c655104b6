"""Benchmark: the first sync of a mirror with a large cluster on a real API server, and what it costs from then on.

``python -m benchmarks.first_sync --nodes 5000 --pods 150000 -o RESULT.json``. Scheduler, controllers and kwok are
stopped, etcd's quota is raised, and objects are written straight into etcd, with their status, before the measurement.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command_line import write_result
from benchmarks.first_sync.store import PENDING, large_cluster
from benchmarks.machine import describe_machine
from benchmarks.reading.measurements import write_kubeconfig
from benchmarks.reading.server import served
from tests.cluster.plane.control_plane import ControlPlane

POLICY = Path(__file__).parents[2] / "policies" / "pending-only.yaml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    report = _pretended(options) if options.pretended else _real(options)
    write_result(report, options.output, indent=1)
    return 0


def _pretended(options: argparse.Namespace) -> dict[str, Any]:
    """Our own part alone: a server that has all pages ready, and tells of no change."""
    with served(options.pods, options.nodes, 0) as (server, _), tempfile.TemporaryDirectory() as folder:
        kubeconfig = write_kubeconfig(Path(folder) / "config", server)
        asked = {"kubeconfig": str(kubeconfig), "touch": 0, "policy": str(POLICY), "is_streaming": True,
                 "is_pretended": True}  # fmt: skip
        found = _measure(asked)
    return _told(options, found, options.pods, {"pretended": found})


def _real(options: argparse.Namespace) -> dict[str, Any]:
    """A real API server and etcd."""
    with large_cluster(options.pods, options.nodes) as (plane, seconds):
        return _report(options, plane, seconds)


def _report(options: argparse.Namespace, plane: ControlPlane, writing_seconds: float) -> dict[str, Any]:
    asked = {
        "kubeconfig": str(plane.kubeconfig), "etcd": plane.etcd, "pods": options.pods, "nodes": options.nodes,
        "touch": options.touch, "policy": str(POLICY), "is_streaming": True,
    }  # fmt: skip
    streamed = _measure(asked)
    found = {"streamed": streamed}
    if options.compare:
        found["paged"] = _measure({**asked, "touch": 0, "is_streaming": False})
        found["readOnce"] = _measure({**asked, "is_reading": True})
    return _told(options, streamed, options.pods + PENDING, {"writingSeconds": writing_seconds, **found})


def _told(options: argparse.Namespace, measured: dict[str, Any], pods: int, result: dict[str, Any]) -> dict[str, Any]:
    return {
        "instance": f"{options.pods} pods, {options.nodes} nodes",
        "seconds": measured["syncSeconds"],
        "peakMegabytes": measured["syncPeakMegabytes"],
        "value": measured["pods"],
        "bound": pods,
        "result": result,
        "machine": describe_machine(),
    }


def _measure(asked: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.first_sync.measurements", json.dumps(asked)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(json.dumps(found), file=sys.stderr)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_sync", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--touch", type=int, default=20_000, help="pods that change at once; 0: none")
    parser.add_argument("--pretended", action="store_true", help="no API server: pages that are ready to be sent")
    parser.add_argument("--compare", action="store_true", help="also by pages instead of a stream, and read only once")
    parser.add_argument(
        "--seed", type=int, default=0, help="accepted for the common form; the cluster is always the same"
    )
    parser.add_argument("-o", "--output", type=Path, help="where the result is written (default: standard output)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
