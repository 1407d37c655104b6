"""Evicts the pods of a plan, several at a time, and does nothing else: what the control plane itself allows here.

Nobody is looked at, asked or waited for but the Eviction API, which PodDisruptionBudgets still bind: what they refuse
is asked for again. No tool that looks before it evicts can be faster than this on the same machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.side_by_side.contenders import OURS, Contender, rescheduler
from benchmarks.side_by_side.footprint import Footprint, run_measured
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.paths import pod_path

AGAIN_SECONDS = 0.25
LONGEST_SECONDS = 300.0


def bare(policy: dict[str, Any], at_once: int) -> Contender:
    """The plan of a policy, whose pods are evicted so many at a time; processor time with that of planning."""

    def run(kubeconfig: Path, folder: Path) -> Footprint:
        planned = rescheduler("plan", policy, words=("plan",)).run(kubeconfig, folder)
        plan = folder / "plan.json"
        plan.write_text(planned.output)
        words = [
            "-m",
            "benchmarks.execution.bare",
            str(plan),
            "--kubeconfig",
            str(kubeconfig),
            "--at-once",
            str(at_once),
        ]
        done = run_measured([sys.executable, *words], timeout_seconds=LONGEST_SECONDS)
        return replace(done, cpu_seconds=done.cpu_seconds + planned.cpu_seconds)

    return Contender(f"bare, {at_once} at a time", OURS, run, {})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 where pods of the plan could not be evicted."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execution.bare", description=__doc__)
    parser.add_argument("plan", type=Path, help="as `rescheduler plan -o json` wrote it")
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--at-once", type=int, default=10, help="evictions under way (default: 10)")
    options = parser.parse_args(arguments)
    connection = connect(options.kubeconfig, read_only=False)
    pods = [move["pod"] for move in json.loads(options.plan.read_text())["moves"]]
    with ThreadPoolExecutor(options.at_once) as several:
        return int(not all(several.map(partial(_evicted, connection), pods)))


def _evicted(connection: Connection, pod: dict[str, str]) -> bool:
    asked = {
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": pod["name"], "namespace": pod["namespace"]},
        "deleteOptions": {"preconditions": {"uid": pod["uid"]}},
    }  # fmt: skip
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until:
        status = connection.send("POST", pod_path(pod["namespace"], pod["name"], "eviction"), asked).status
        if status != 429:
            return status < 300
        time.sleep(AGAIN_SECONDS)
    return False


if __name__ == "__main__":
    sys.exit(main())
