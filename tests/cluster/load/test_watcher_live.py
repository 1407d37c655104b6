"""`rescheduler watcher` and `top` as a user runs them beside a live cluster whose load metrics-server tells."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.load.conftest import SILENT, USE
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

POLICY = """usage:
  providers: [{name: MetricsServer}]
  interval: 5s
  podInterval: 5s
  trust: {minimumNodeAge: 1s, minimumSamples: 2, frozenSamples: 1000}
"""
"""Nodes of a test are young, and pretended pods use the same all the time."""


class Running(NamedTuple):
    """A watcher at work: its process, where it answers, and what it has said."""

    process: subprocess.Popen[str]
    url: str
    said: list[str]

    def get(self, target: str) -> tuple[int, bytes]:
        """Status and body of one GET."""
        try:
            with urlopen(f"{self.url}{target}", timeout=30) as answer:
                return answer.status, answer.read()
        except HTTPError as error:
            return error.code, error.read()

    def shown(self) -> set[str]:
        """Nodes of GET /watcher; none while there are none."""
        status, body = self.get("/watcher")
        return set(json.loads(body)["data"]["NodeMetricsMap"]) if status == 200 else set()

    def shown_pods(self) -> set[str]:
        """Pods of GET /watcher, which are looked at less often than nodes; none while there are none."""
        status, body = self.get("/watcher?pods=true&window=5m")
        return set(json.loads(body)["data"].get("PodMetricsMap", ())) if status == 200 else set()


@contextmanager
def watcher(tool: Tool, policy: str) -> Iterator[Running]:
    """The process, once it listens; killed in the end."""
    said: list[str] = []
    with tool.start("watcher", "--policy", policy, "--address", "127.0.0.1:0") as process:
        assert process.stderr is not None
        reader = threading.Thread(target=said.extend, args=(process.stderr,), daemon=True)
        reader.start()
        try:
            wait_until(lambda: any("listening on" in line for line in said),
                       lambda: f"a watcher that listens; it said {said}", timeout_seconds=60)  # fmt: skip
            (line,) = [one for one in said if one.startswith("listening on")]
            yield Running(process, line.split()[2].rstrip(";"), said)
        finally:
            process.kill()
            reader.join(10)


def values(body: bytes, kind: str, name: str) -> dict[str, float]:
    """Average by type of one node or pod."""
    metrics: list[dict[str, Any]] = json.loads(body)["data"][kind][name]["metrics"]
    return {found["type"]: found["value"] for found in metrics if found["operator"] == "AVG"}


def test_the_load_of_a_live_cluster_is_told(loaded: Cluster, tmp_path: Path) -> None:
    """Measured nodes with their figures, never a silent one; pods and top beside it; nothing is written."""
    tool = Tool(loaded, tmp_path)
    with watcher(tool, tool.policy(POLICY)) as running:
        wait_until(lambda: running.shown() == set(USE), lambda: f"two nodes: {running.get('/trust')}, {running.said}",
                   timeout_seconds=120)  # fmt: skip
        wait_until(lambda: "default/busy-n1" in running.shown_pods(), lambda: "a pod", timeout_seconds=120)
        status, body = running.get("/watcher?pods=true&window=5m")
        assert (status, json.loads(body)["source"]) == (200, "KubernetesMetricsServer")
        assert values(body, "NodeMetricsMap", "n1") == pytest.approx({"CPU": 25.0, "Memory": 25.0}, rel=0.05)
        assert values(body, "NodeMetricsMap", "n2") == pytest.approx({"CPU": 12.5, "Memory": 12.5}, rel=0.05)
        pod_load = values(body, "PodMetricsMap", "default/busy-n1")
        assert pod_load == pytest.approx({"CPU": 25.0, "Memory": 25.0}, rel=0.05)
        status, told = running.get(f"/watcher?host={SILENT}")
        assert (status, told.split(b":")[0]) == (404, b"no metrics of n3 are believed")
        assert json.loads(running.get("/trust")[1])["states"] == {"Trusted": 2, "Missing": 1}
        assert running.get("/watcher/health") == (200, b"")
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(30) == 0
    assert tool.writes() == []


def test_top_asks_the_cluster_itself(loaded: Cluster, tmp_path: Path) -> None:
    """Without a watcher: one sample of each node, young pods and the silent node told as what they are."""
    tool = Tool(loaded, tmp_path)
    policy = tool.policy(POLICY.replace("minimumSamples: 2", "minimumSamples: 1"))

    def nodes() -> dict[str, Any]:
        rows = tool.run("top", "nodes", "--policy", policy, "-o", "json").document["nodes"]
        return {row["node"]: row for row in rows}

    wait_until(lambda: {name for name, row in nodes().items() if row["trust"] == "Trusted"} == set(USE),
               lambda: f"two nodes that are measured: {nodes()}", timeout_seconds=120)  # fmt: skip
    found = nodes()
    assert list(found) == ["n1", "n2", SILENT]
    assert found["n1"]["cpu"]["average"] == pytest.approx(25.0, rel=0.05)
    assert (found[SILENT]["cpu"], found[SILENT]["trust"]) == ({}, "Missing")
    pods = tool.run("top", "pods", "--policy", policy, "-o", "json").document["pods"]
    assert [row["pod"]["name"] for row in pods] == ["busy-n1", "busy-n2"]
    assert [row["cpuMillicores"] for row in pods] == pytest.approx([1000.0, 500.0], rel=0.05)
    lines = tool.run("top", "nodes", "--policy", policy).output.splitlines()
    assert lines[0] == "load of 3 nodes over 5m, from MetricsServer"
    assert lines[1].startswith("nothing is moved by load now: only 2 of 3 nodes")
    assert [line.split()[0] for line in lines if line.startswith(("NODE ", "n"))] == ["nothing", "NODE", *found]
    assert tool.writes() == []
