"""A real VictoriaMetrics on loopback, which answers PromQL in its own way, with points imported after its start."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component
from tests.cluster.plane.readiness import healthy
from tests.metrics.prometheus_server import Point


@contextmanager
def victoria_metrics_server(folder: Path, points: Iterable[Point]) -> Iterator[str]:
    """Start VictoriaMetrics over these points and give its address; skipped where it is not installed."""
    binary = shutil.which("victoria-metrics")
    if binary is None:
        pytest.skip("no victoria-metrics on the path (Debian package victoria-metrics)")
    folder.mkdir(parents=True, exist_ok=True)
    address = f"http://127.0.0.1:{free_port()}"
    server = Component(
        "victoria-metrics",
        [
            binary,
            f"-storageDataPath={folder / 'data'}",
            f"-httpListenAddr={address.removeprefix('http://')}",
            "-search.latencyOffset=0s",
            "-retentionPeriod=1",
        ],
        folder / "victoria-metrics.log",
        healthy(f"{address}/health"),
    )
    server.start()
    try:
        lines = "".join(f"{one.series} {one.value!r} {round(one.at * 1000)}\n" for one in points)
        urllib3.request("POST", f"{address}/api/v1/import/prometheus", body=lines, retries=False, timeout=30)
        urllib3.request("GET", f"{address}/internal/force_flush", retries=False, timeout=30)
        yield address
    finally:
        server.stop()
