"""A real Prometheus on loopback, with history that promtool has written before it starts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component
from tests.cluster.plane.readiness import healthy

SCRAPES_NOTHING = "global: {scrape_interval: 1h}\n"


class Point(NamedTuple):
    """One sample of one series."""

    series: str
    """Metric and labels as PromQL writes them: ``up{job="a"}``."""
    at: float
    value: float


def series(metric: str, labels: Mapping[str, str]) -> str:
    """A series as PromQL writes it."""
    inner = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{metric}{{{inner}}}"


def open_metrics(points: Iterable[Point]) -> str:
    """Points as OpenMetrics text, in the order that promtool wants: by series, then by time."""
    lines = [f"{one.series} {one.value!r} {one.at:.3f}" for one in sorted(points)]
    return "\n".join([*lines, "# EOF", ""])


@contextmanager
def prometheus_server(
    folder: Path, points: Iterable[Point], *flags: str, port: int = 0, prefix: str = "", scrapes: str = SCRAPES_NOTHING
) -> Iterator[str]:
    """Start Prometheus over these points and give its address; the test is skipped where it is not installed.

    ``prefix``: what its own routes begin with. ``scrapes``: its configuration.
    """
    binary, tool = shutil.which("prometheus"), shutil.which("promtool")
    if binary is None or tool is None:
        pytest.skip("no prometheus and promtool on the path (Debian package prometheus)")
    data, configuration, text = folder / "data", folder / "prometheus.yml", folder / "points.txt"
    folder.mkdir(parents=True, exist_ok=True)
    data.mkdir(exist_ok=True)
    configuration.write_text(scrapes)
    text.write_text(open_metrics(points))
    if text.stat().st_size > len("# EOF\n"):
        subprocess.run(
            [tool, "tsdb", "create-blocks-from", "openmetrics", text, data],
            check=True,
            capture_output=True,
            timeout=120,
        )
    address = f"http://127.0.0.1:{port or free_port()}"
    server = Component(
        "prometheus",
        [
            binary,
            f"--config.file={configuration}",
            f"--storage.tsdb.path={data}",
            "--storage.tsdb.retention.time=30d",
            f"--web.listen-address={address.removeprefix('http://')}",
            *flags,
        ],
        folder / "prometheus.log",
        healthy(f"{address}{prefix}/-/ready"),
    )
    server.start()
    try:
        yield address
    finally:
        server.stop()
