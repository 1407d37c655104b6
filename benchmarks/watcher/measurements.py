"""One measurement of the watcher benchmark, alone in its process, printed as JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import peak_megabytes
from benchmarks.watcher.table import measure_plain_table
from benchmarks.watcher.ticks import NOW, node_ticks, nodes_named, pod_ticks, pods_named
from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore
from rescheduler.usage.rings import NodeRing, PodRing
from rescheduler.usage.windows import usage_windows

WINDOWS = (300.0, 600.0, 900.0)
INTERVAL, POD_INTERVAL = 15.0, 60.0
TICKS, POD_TICKS = 240, 30


class Stopwatch:
    """CPU seconds of each kind of act."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}

    def __call__(self, name: str, act: Callable[[], object]) -> None:
        """Do and measure."""
        start = time.process_time()
        act()
        self._seconds.setdefault(name, []).append(time.process_time() - start)

    def report(self) -> dict[str, float]:
        """The best of each kind, and the median."""
        best = {name: round(min(found), 6) for name, found in self._seconds.items()}
        return {**best, **{f"{name}Median": round(float(np.median(found)), 6) for name, found in self._seconds.items()}}


def watch(path: Path, nodes: int, pods: int, seed: int) -> dict[str, Any]:
    """An hour of node ticks through ring, store and windows, and half an hour of pod ticks."""
    measure, ring, pod_ring = Stopwatch(), NodeRing(WINDOWS, INTERVAL), PodRing(WINDOWS, POD_INTERVAL)
    known_nodes, known_pods, store = nodes_named(nodes), pods_named(pods), open_store(path)
    for number, samples in enumerate(node_ticks(nodes, TICKS, INTERVAL, seed)):
        now = float(samples.times[0])
        measure("appendTick", lambda s=samples, n=now: ring.append(s, n))
        measure("storeTick", lambda s=samples: store.append(s))
        if number % 10 == 9:
            measure("windows", lambda n=now: usage_windows(ring, WINDOWS, known_nodes, n))
    for number, pod_samples in enumerate(pod_ticks(pods, POD_TICKS, POD_INTERVAL, seed)):
        now = NOW + POD_INTERVAL * number
        measure("appendPods", lambda s=pod_samples, n=now: pod_ring.append(s, n))
        if number % 5 == 4:
            measure("podWindows", lambda n=now: pod_ring.use(known_pods, WINDOWS, n))
    megabytes = round(sum(found.stat().st_size for found in path.parent.glob(path.name + "*")) / 1e6, 1)
    return {**measure.report(), "peakMegabytes": peak_megabytes(), "fileMegabytes": megabytes}


def restart(path: Path, nodes: int) -> dict[str, Any]:
    """Open the file that a killed process left, restore, and have all windows."""
    now, ring = NOW + INTERVAL * (TICKS - 1), NodeRing(WINDOWS, INTERVAL)
    start = time.perf_counter()
    store = open_store(path)
    opened = time.perf_counter()
    for samples in store.restore(now - max(WINDOWS)):
        ring.append(samples, now)
    restored = time.perf_counter()
    found = usage_windows(ring, WINDOWS, nodes_named(nodes), now).by_seconds[WINDOWS[-1]]
    end = time.perf_counter()
    assert found.is_valid.all()
    assert (found.statistics["cpu"].count >= 45).all()
    return {"wallSeconds": round(end - start, 3), "openSeconds": round(opened - start, 3),
            "restoreSeconds": round(restored - opened, 3), "windowsSeconds": round(end - restored, 3),
            "processWallSeconds": round(time.time() - process_start(), 3),
            "processCpuSeconds": round(time.process_time(), 3)}  # fmt: skip


def open_store(path: Path) -> SqliteUsageStore:
    """A store of an hour."""
    return SqliteUsageStore(path, keep_seconds=3600.0, interval_seconds=INTERVAL, now=NOW, tell=print)


def process_start() -> float:
    """When this process began, in seconds since the epoch (Linux)."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    booted = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime"))
    return int(booted.split()[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _print(found: dict[str, Any]) -> None:
    print(json.dumps(found), flush=True)


def main(what: str, path: str, *numbers: str) -> None:
    """``watch PATH NODES PODS SEED``, ``restart PATH NODES`` or ``plain_table PATH NODES SEED``."""
    sizes: Iterator[int] = map(int, numbers)
    if what == "plain_table":
        _print(measure_plain_table(Path(path), *sizes))
    elif what == "restart":
        _print(restart(Path(path), *sizes))
    else:
        _print(watch(Path(path), *sizes))
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
