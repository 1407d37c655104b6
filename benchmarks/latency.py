"""From a pending pod to a running one, end to end: `python -m benchmarks.latency --runs 50 --nodes 100`.

A pod comes every six seconds: a daemon asks ten requests a second at most, and a round takes some 35. With
``--every 0`` the next comes as soon as the last one runs, and after a dozen of them the daemon waits for that.

The real control plane, kwok's nodes, and `rescheduler run` as a process of its own. Each node has one cpu free and each
pending pod needs two, so that every run takes one eviction. Times are those of the daemon's log and of the pod.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.machine import describe_machine
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, DaemonProcess, daemon
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool

POLICY: Final = f"""\
mode: Execute
triggers: [{{name: PendingPods, args: {{olderThan: 0s, debounce: 0s}}}}]
telemetry: {{address: "127.0.0.1:0"}}
disruption: {{backOff: {{first: 1s, longest: 1s, rest: 0s, perDay: 0}}, {NO_RATES}}}
leaderElection: {{leaseDuration: 8s, renewDeadline: 6s, retryPeriod: 2s}}
{AT_ONCE}
"""
PODS_PER_NODE: Final = 3
WORKLOADS: Final = 60
"""More than are asked for within the time for which a workload owes a replacement that has worked for 30 s."""
STEPS: Final = ("noticed", "planned", "evicted", "running")
"""Ends of steps: the trigger has fired, the first eviction is announced, it is sent, the pending pod runs."""
LOOK_SECONDS: Final = 0.02


def main(arguments: list[str] | None = None) -> int:
    """Run all and print a table; the result as JSON where -o names a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--every", type=float, default=6.0, help="seconds from one pod to the next, at least")
    parser.add_argument("-o", "--output", type=Path, help="the result and every run's times, as JSON")
    parser.add_argument("--log", type=Path, help="what the daemon logged, a line each")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, ControlPlane() as plane:
        cluster = Cluster(plane)
        cluster.add_nodes(chosen.nodes, cpu="4")
        cluster.wait_nodes_ready()
        tool = Tool(cluster, Path(folder))
        with daemon(tool, "--policy", tool.policy(POLICY)) as process:
            process.wait_for("leading")
            try:
                seconds = _all_runs(cluster, process, chosen.runs, chosen.nodes, chosen.every)
            finally:
                if chosen.log is not None:
                    chosen.log.write_text("".join(f"{json.dumps(line)}\n" for line in process.lines))
            process.stop()
    result = {"machine": describe_machine(), "nodes": chosen.nodes, "runs": len(seconds), **_summary(seconds)}
    if chosen.output is not None:
        chosen.output.write_text(json.dumps({**result, "seconds": seconds}, indent=2))
    print(json.dumps(result, indent=2))
    return 0


def _all_runs(cluster: Cluster, process: DaemonProcess, runs: int, nodes: int, every: float) -> list[dict[str, float]]:
    """A third of the nodes may be used up before all is filled anew: each run takes room on two."""
    found: list[dict[str, float]] = []
    while len(found) < runs:
        _fill(cluster, nodes)
        for _ in range(min(nodes // 3, runs - len(found))):
            next_at = time.monotonic() + every
            found.append(_one_run(cluster, process, len(found)))
            time.sleep(max(next_at - time.monotonic(), 0.0))
        _empty(cluster)
    return found


def _fill(cluster: Cluster, nodes: int) -> None:
    pods = nodes * PODS_PER_NODE
    for number in range(WORKLOADS):
        replicas = pods // WORKLOADS + (number < pods % WORKLOADS)
        cluster.create(deployment(f"web-{number}", replicas, cpu="1"))
    cluster.wait_pods_running(pods, timeout_seconds=300)


def _empty(cluster: Cluster) -> None:
    for item in cluster.api.list("deployments", "default"):
        cluster.api.delete("deployments", item["metadata"]["name"], "default")
    while cluster.api.list("pods", "default"):
        time.sleep(0.5)


def _one_run(cluster: Cluster, process: DaemonProcess, number: int) -> dict[str, float]:
    """Seconds from the pod's creation to the end of each step."""
    name, seen = f"big-{number}", len(process.lines)
    began = time.time()
    cluster.create(deployment(name, cpu="2"))
    while not _runs(cluster, name):
        if time.time() > began + 120:
            raise TimeoutError(f"{name} does not run: {process.told()}")
        time.sleep(LOOK_SECONDS)
    ended = time.time()
    process.wait_for("round ended", count=number + 1)
    lines = process.lines[seen:]
    ends = (_first(lines, "trigger fired"), _first(lines, "eviction announced"), _first(lines, "eviction sent"), ended)
    return {step: end - began for step, end in zip(STEPS, ends, strict=True)}


def _runs(cluster: Cluster, name: str) -> bool:
    pods = cluster.api.list("pods", "default", labels=f"app={name}")
    return any(pod["status"].get("phase") == "Running" for pod in pods)


def _first(lines: list[dict[str, Any]], event: str) -> float:
    line = next(line for line in lines if line.get("event") == event)
    return datetime.fromisoformat(line["timestamp"]).timestamp()


def _summary(seconds: list[dict[str, float]]) -> dict[str, Any]:
    ends = np.array([[run[step] for step in STEPS] for run in seconds])
    steps = np.diff(ends, axis=1, prepend=0.0)
    total = ends[:, -1]
    return {
        "medianSeconds": round(float(np.median(total)), 3),
        "p95Seconds": round(float(np.quantile(total, 0.95)), 3),
        "shares": {step: round(float(steps[:, at].sum() / total.sum()), 3) for at, step in enumerate(STEPS)},
        "medianOfSteps": {step: round(float(np.median(steps[:, at])), 3) for at, step in enumerate(STEPS)},
    }


if __name__ == "__main__":
    sys.exit(main())
