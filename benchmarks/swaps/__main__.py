"""Benchmark: the pods of two full nodes change places, while two older pods of equal priority wait for either place.

``python -m benchmarks.swaps --runs 20 --modes Predict,Hold,Guide -o RESULT.json`` starts the control plane of
``tests/cluster`` and prints, for each mode, in how many runs both pods reached their places, and the median time from
the first eviction until both had a node. With Guide it is ``rescheduler apply`` that acts. Predict and Hold refuse such
a plan, since no order of single moves is feasible; what is measured for them is the most that their means allow:
both pods are evicted at once, and with Hold their holes are kept by placeholders and the new pods nominated.
The exit code is 1 where fewer than 95 of 100 runs with Guide succeed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.machine import describe_machine
from benchmarks.swaps.modes import MODES, PLACES
from tests.cluster.cluster import Cluster
from tests.cluster.guidance.guided_scenes import full_pair, install
from tests.cluster.plane.clean_slate import CleanSlate
from tests.cluster.plane.control_plane import ControlPlane

GOAL: Final = 0.95
VERDICT_SECONDS: Final = 20.0
LOOK_SECONDS: Final = 0.02


class Watch(threading.Thread):
    """Looks at the pods of a run until all places are taken: ``seconds`` from the first eviction, None on a failure."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(daemon=True)
        self.seconds: float | None = None
        self._cluster = cluster
        self._old = {pod["metadata"]["uid"] for pod in self._pods() if pod["spec"].get("nodeName")}
        self.is_over = threading.Event()

    def run(self) -> None:
        """Look until the verdict is clear; the time counts from the first eviction on."""
        began: float | None = None
        while not self.is_over.is_set():
            pods, now = self._pods(), time.monotonic()
            leaving = [pod for pod in pods if pod["metadata"]["uid"] in self._old]
            if began is None and (len(leaving) < 2 or any("deletionTimestamp" in pod["metadata"] for pod in leaving)):
                began = now
            new = [pod for pod in pods if pod["metadata"]["uid"] not in self._old and pod["spec"].get("nodeName")]
            if began is not None and (len(new) == len(PLACES) or now - began > VERDICT_SECONDS):
                places = {pod["metadata"]["labels"]["app"]: pod["spec"]["nodeName"] for pod in new}
                self.seconds = now - began if places == PLACES else None
                return
            time.sleep(LOOK_SECONDS)

    def _pods(self) -> list[dict[str, Any]]:
        return self._cluster.api.list("pods", "default")


def run_once(cluster: Cluster, slate: CleanSlate, mode: str) -> float | None:
    """Seconds that one exchange took, None if somebody did not reach his place."""
    slate.restore()
    install(cluster)
    full_pair(cluster, rivals=2)
    watch = Watch(cluster)
    watch.start()
    with tempfile.TemporaryDirectory() as folder:
        MODES[mode](cluster, Path(folder))
    watch.join(VERDICT_SECONDS + 1)
    watch.is_over.set()
    return watch.seconds


def row(mode: str, times: Sequence[float | None]) -> dict[str, Any]:
    """What one mode reached."""
    taken = [seconds for seconds in times if seconds is not None]
    return {
        "mode": mode,
        "runs": len(times),
        "swapped": len(taken),
        "share": len(taken) / len(times),
        "medianSeconds": round(median(taken), 2) if taken else None,
        "longestSeconds": round(max(taken), 2) if taken else None,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.swaps", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs of each mode (default: 20)")
    parser.add_argument("--modes", default=",".join(MODES), help="some of Predict,Hold,Guide (default: all)")
    parser.add_argument("-o", "--output", type=Path, help="file for the result")
    options = parser.parse_args(arguments)
    modes = [name for name in MODES if name in options.modes.split(",")]
    rows = []
    with ControlPlane() as plane:
        print(f"kube-scheduler {plane.version}; {describe_machine()}")
        cluster, slate = Cluster(plane), CleanSlate(plane.api)
        for mode in modes:
            found = row(mode, [run_once(cluster, slate, mode) for _ in range(options.runs)])
            rows.append(found)
            seconds = "-" if found["medianSeconds"] is None else f"{found['medianSeconds']:.2f} s"
            print(
                f"{mode:8} {found['swapped']:3} of {found['runs']:3} ({found['share']:.0%})  median {seconds}",
                flush=True,
            )
    if options.output:
        options.output.write_text(json.dumps({"instance": "swaps", "result": rows}, indent=1) + "\n")
    return int(any(found["mode"] == "Guide" and found["share"] < GOAL for found in rows))


if __name__ == "__main__":
    sys.exit(main())
