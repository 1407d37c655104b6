"""The whole ``rescheduler watcher`` as a process of its own, over a real Prometheus: asked as a stock client asks."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.builders import node
from tests.metrics.contract import Load, Scene, times
from tests.metrics.exporters import old_rules
from tests.metrics.prometheus_server import prometheus_server
from tests.unit.daemon.api.stock_client import fetch

NODES = ("n1", "n2", "n3")
PATIENCE_SECONDS = 90.0


class Reply(NamedTuple):
    """Status, content type and body."""

    status: int
    type: str
    body: bytes


class Watcher(NamedTuple):
    """A running process and where it listens."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def get(self, target: str) -> Reply:
        """One GET."""
        try:
            with urlopen(f"{self.url}{target}", timeout=30) as answer:
                return Reply(answer.status, answer.headers["Content-Type"], answer.read())
        except HTTPError as error:
            return Reply(error.code, error.headers["Content-Type"], error.read())

    def end(self, number: signal.Signals) -> int:
        """The exit code after a signal."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_SECONDS)


def load_of(place: int, at: float) -> tuple[float, float]:
    """Cpu and memory of a node at a time; never the same twice."""
    return 0.2 * (place + 1) + 0.05 * math.sin(at / 40 + place), 0.3 + 0.02 * math.sin(at / 55 + place)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Twenty minutes of three nodes' load, up to now."""
    now = time.time()
    hosts = {
        name: [Load(at, *load_of(place, at)) for at in times(now, 0.0, 1200.0)] for place, name in enumerate(NODES)
    }
    points = old_rules(Scene(hosts), [node(name) for name in NODES])
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), points) as address:
        yield address


@pytest.fixture
def policy(tmp_path: Path, prometheus: str) -> Path:
    """A policy over that Prometheus, with a store, and the cluster as kubectl would print it."""
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "creationTimestamp": "2020-01-01T00:00:00Z"},
            "status": {
                "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
                "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        for name in NODES
    ]
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    file = tmp_path / "policy.yaml"
    file.write_text(
        "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nusage:\n"
        f'  providers: [{{name: Prometheus, args: {{address: "{prometheus}"}}}}]\n'
        "  interval: 1s\n  store: {path: usage.sqlite}\n"
    )
    return file


@contextmanager
def watcher(policy: Path, *more: str) -> Iterator[Watcher]:
    """The process, from the line in which it says where it listens; killed in the end."""
    log = policy.with_name(f"{time.monotonic_ns()}.log")
    arguments = ["watcher", "--policy", str(policy), "-f", str(policy.with_name("cluster.json")), *more]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "rescheduler", *arguments, "--address", "127.0.0.1:0"],
            stdout=subprocess.DEVNULL,
            stderr=stream,
        )
        try:
            line = until(lambda: next((one for one in log.read_text().splitlines() if "listening on" in one), ""), log)
            yield Watcher(process, line.split()[2].rstrip(";"), log)
        finally:
            process.kill()
            process.wait()


def until(found: Callable[[], Any], log: Path) -> Any:
    """The first true value; the log where there is none in time."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.1)
    pytest.fail(f"nothing came; the log: {log.read_text()}")


def ready(running: Watcher) -> Watcher:
    """The same, once it has load to tell."""
    until(lambda: running.get("/readyz").status == 200, running.log)
    return running


def expected(place: int, start: float, end: float) -> float:
    """Mean cpu of a node over a span, in percent."""
    ats = [start + step for step in range(int(end - start))]
    return 100 * sum(load_of(place, at)[0] for at in ats) / len(ats)


def test_a_stock_client_reads_what_prometheus_holds(policy: Path) -> None:
    """Right after the start, from history: source, window, and averages over the window that it names."""
    with watcher(policy) as running:
        report = fetch(ready(running).url)
        duration, start, end = report.window
        assert (report.source, duration, end - start) == ("Prometheus", "15m", 900)
        assert abs(end - time.time()) < 60 + PATIENCE_SECONDS
        for place, name in enumerate(NODES):
            cpu = report.cpu_of(name)
            assert cpu is not None
            assert cpu == pytest.approx(expected(place, start, end), abs=1.0)
            assert 1 < report.risk_inputs(name, "CPU")[1] < 10  # type: ignore[index]
        assert running.end(signal.SIGTERM) == 0


def test_query_forms_and_status_codes(policy: Path) -> None:
    """One node in both forms, an unknown one, health, a wrong page."""
    with watcher(policy) as running:
        ready(running)
        for target in ("/watcher?host=n1", "/watcher/n1"):
            reply = running.get(target)
            assert (reply.status, reply.type) == (200, "application/json")
            assert list(json.loads(reply.body)["data"]["NodeMetricsMap"]) == ["n1"]
        for target in ("/watcher?host=n9", "/watcher/n9", "/nothing"):
            reply = running.get(target)
            assert (reply.status, reply.type) == (404, "text/plain; charset=utf-8")
        assert running.get("/watcher/health") == (200, None, b"")
        assert running.get("/healthz").status == 200
        assert b"rescheduler_watcher_nodes" in running.get("/metrics").body
        assert running.end(signal.SIGINT) == 130


def test_windows_survive_a_kill(policy: Path) -> None:
    """Killed without warning, the next process knows what the one before knew, though the provider is gone."""
    with watcher(policy) as running:
        before = fetch(ready(running).url)
        running.process.kill()
        running.process.wait()
    text = policy.read_text()
    start = text.index("http://")
    policy.write_text(f'{text[:start]}http://127.0.0.1:9"{text[text.index(chr(34), start) + 1 :]}')
    with watcher(policy) as running:
        after = fetch(ready(running).url)
        assert running.get("/watcher/health").status == 503
        for name in NODES:
            old, new = before.cpu_of(name), after.cpu_of(name)
            assert new == pytest.approx(old, abs=1.0)
        assert "cannot be reached" in running.log.read_text()
        assert running.end(signal.SIGTERM) == 0


def test_top_reads_the_file_of_a_running_watcher(policy: Path) -> None:
    """Beside it, without disturbing it."""
    with watcher(policy) as running:
        report = fetch(ready(running).url)
        command = ["top", "nodes", "--policy", str(policy), "-f", str(policy.with_name("cluster.json")), "-o", "json"]
        done = subprocess.run(
            [sys.executable, "-m", "rescheduler", *command, "--window", "15m"], capture_output=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["source"].startswith("the watcher's file ")
        assert {row["node"]: row["trust"] for row in found["nodes"]} == dict.fromkeys(NODES, "Trusted")
        for row in found["nodes"]:
            assert row["cpu"]["average"] == pytest.approx(report.cpu_of(row["node"]), abs=1.0)
            assert row["ageSeconds"] < 300
        assert running.end(signal.SIGTERM) == 0
