"""Benchmark: how long the load watcher's REST API takes to answer for 5,000 nodes, over loopback.

``python -m benchmarks.watcher.api -o RESULT.json``; the server runs in the client's process, so that both share its
cores, and ticks go on while it answers: each tick is encoded anew, as in a running watcher. Goal: 50 ms.
"""

from __future__ import annotations

import argparse
import http.client
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.command_line import write_result
from benchmarks.machine import MonotonicClock, describe_machine, peak_megabytes
from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.daemon.serving.listening import ApplicationServer
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import Statistics, Usage, UsageWindows
from rescheduler.policy.fields.usage import WatcherApi
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.provider_health import ProviderHealth

WINDOWS = (300.0, 600.0, 900.0)
TARGETS = {
    "allNodes": "/watcher",
    "oneNode": "/watcher?host=node-00042",
    "oneNodeByPath": "/watcher/node-00042",
    "allStatistics": "/watcher?statistics=all",
    "fiveMinutes": "/watcher?window=5m",
    "trust": "/trust",
    "metrics": "/metrics",
}
GOAL_MILLISECONDS = 50.0


class Ticking:
    """A watcher whose ticks bring other objects with the same load."""

    def __init__(self, nodes: int, seed: int) -> None:
        self.collected = _collected(nodes, seed, time.time())

    def tick(self) -> None:
        """A new tick."""
        self.collected = replace(self.collected, at=time.time(), ticks=self.collected.ticks + 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    source = Ticking(options.nodes, options.seed)
    app = create_app(source, MonotonicClock(), interval=15.0)
    started = time.perf_counter()
    app.state.prepare()
    encoding = time.perf_counter() - started
    listener = ApplicationServer(app, "127.0.0.1:0", WatcherApi())
    listener.start()
    try:
        with _ticks(source, app.state.prepare, options.interval):
            found = {name: _measured(listener.url, target, options.requests) for name, target in TARGETS.items()}
    finally:
        listener.stop()
    worst = max(found[name]["p95Milliseconds"] for name in ("allNodes", "oneNode", "oneNodeByPath"))
    report = {
        "instance": f"{options.nodes} nodes, a tick every {options.interval:g} s, seed {options.seed}",
        "machine": describe_machine(),
        "encodingMilliseconds": round(encoding * 1000, 1),
        "requests": options.requests,
        "answers": found,
        "goalMilliseconds": GOAL_MILLISECONDS,
        "isReached": worst <= GOAL_MILLISECONDS,
        "peakMegabytes": peak_megabytes(),
    }
    write_result(report, options.output)
    return 0


def _measured(url: str, target: str, requests: int) -> dict[str, float]:
    """Times from sending a request to its last byte, on one connection, and the CPU seconds of both ends."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
    seconds, size, cpu = [], 0, time.process_time()
    for _ in range(requests):
        started = time.perf_counter()
        connection.request("GET", target)
        answer = connection.getresponse()
        size = len(answer.read())
        seconds.append(time.perf_counter() - started)
        if answer.status != 200:
            raise RuntimeError(f"{target}: status {answer.status}")
    connection.close()
    milliseconds = np.array(seconds) * 1000
    return {
        "p50Milliseconds": round(float(np.percentile(milliseconds, 50)), 2),
        "p95Milliseconds": round(float(np.percentile(milliseconds, 95)), 2),
        "maxMilliseconds": round(float(milliseconds.max()), 2),
        "cpuMilliseconds": round((time.process_time() - cpu) / requests * 1000, 2),
        "bytes": size,
    }


@contextmanager
def _ticks(source: Ticking, prepare: Callable[[], None], interval: float) -> Iterator[None]:
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(interval):
            source.tick()
            prepare()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _collected(count: int, seed: int, now: float) -> Collected:
    random = np.random.default_rng(seed)
    nodes = tuple(
        Node(f"node-{place:05}", capacity=((CPU, 64000), (MEMORY, 2**38)), allocatable=((CPU, 63000),))
        for place in range(count)
    )
    trusts = tuple(Trust(TrustState.TRUSTED) for _ in nodes)
    statistics = {
        name: Statistics(
            **{field: np.round(random.random(count) * 100, 4) for field in Statistics.__dataclass_fields__}
        )
        for name in (CPU, MEMORY, NETWORK, DISK)
    }
    windows = {
        seconds: Usage(
            statistics,
            np.full(count, now),
            np.full(count, seconds),
            np.ones(count, dtype=bool),
            assessment=Assessment(trusts),
        )
        for seconds in WINDOWS
    }
    for place, seconds in enumerate(WINDOWS):  # longer windows hold more samples
        of_window = {
            name: replace(found, count=np.full(count, 20.0 * (place + 1))) for name, found in statistics.items()
        }
        windows[seconds] = replace(windows[seconds], statistics=of_window)
    health = ProviderHealth("Prometheus", answered_at=now, is_used=True)
    return Collected(
        now, nodes=nodes, windows=UsageWindows(windows), measured_at=np.full(count, now), source="Prometheus",
        providers=(health,), ticks=1,
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watcher.api", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--requests", type=int, default=200, help="for each form of request")
    parser.add_argument("--interval", type=float, default=2.0, help="seconds between ticks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
