"""The dashboard over a real Prometheus that scrapes a real run: every query of every panel has something to show."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.alerting import Prometheus, watching
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, SHORT_LEASE, STRAYS, daemon
from tests.cluster.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import pod
from tests.cluster.test_approval import proposed
from tests.cluster.tool import HOLDS, Tool
from tests.paths import DEPLOY

DASHBOARD = json.loads((DEPLOY / "monitoring" / "dashboard.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
POLICY = f"""
triggers: [{{name: PendingPods, args: {{olderThan: 1s, debounce: 1s}}}}, {{name: OnDemand}}]
{SHORT_LEASE}
{AT_ONCE}
{STRAYS}
"""
MEASURED = "usage: {providers: [{name: MetricsServer}], interval: 5s, windows: [30s]}"


def filled(expression: str) -> str:
    """With Grafana's variables as they are when everything is chosen; scrapes are a second apart."""
    for name, value in (("$__rate_interval", "5s"), ("$namespace", ".*"), ("$job", ".*")):
        expression = expression.replace(name, value)
    return expression


def series(prometheus: Prometheus, expression: str, since: float) -> list[dict[str, Any]]:
    """What a panel's query draws from then until now, without what is not a number."""
    found = prometheus.ask("query_range", query=filled(expression), start=since, end=time.time(), step="1s")["result"]
    drawn = [{**one, "values": [point for point in one["values"] if math.isfinite(float(point[1]))]} for one in found]
    return [one for one in drawn if one["values"]]


def empty_queries(prometheus: Prometheus, since: float) -> list[str]:
    """Queries that draw nothing, with the titles of their panels."""
    return [
        f"{panel['title']}: {target['expr']}"
        for panel in PANELS
        for target in panel["targets"]
        if not series(prometheus, target["expr"], since)
    ]


def approve(cluster: Cluster, number: str) -> None:
    """Say yes by annotation."""
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOLDS}})
    metadata = {"name": "rescheduler-ledger", "namespace": HOLDS, "annotations": {"rescheduler.dev/approved": number}}
    cluster.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


def use(cluster: Cluster, *nodes: str) -> None:
    """Let nodes tell what is used on them, which metrics-server takes only from those that use memory."""
    for name in nodes:
        annotations = {RESOURCE_METRICS_PATH: resource_metrics_path(name)}
        cluster.api.patch("nodes", name, {"metadata": {"annotations": annotations}})
        used = {USED_CPU: "100m", USED_MEMORY: "1Gi"}
        cluster.create(pod(f"busy-{name}", annotations=used, spec={"nodeName": name}))


@pytest.mark.timeout(420)
def test_every_panel_shows_a_real_run(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """A plan that waits, a yes, evictions that are repaid, an API server that is away; and load that is measured."""
    fragmented(cluster)
    cluster.create(pod("alone", spec={"nodeName": "node-3"}))  # which no owner would replace: it is left alone
    since = time.time()
    with watching(cluster.control_plane, tmp_path / "watching") as prometheus:
        head = f"{POLICY}\ntelemetry: {{address: '{prometheus.daemon}'}}\n"
        with daemon(tool, "--policy", tool.policy(f"mode: Approve{head}")) as process:
            number = proposed(process)
            prometheus.wait_value("rescheduler_plans_waiting_approval == 1")
            approve(cluster, number)
            process.wait_for("round ended", outcome="done")
            process.wait_for("eviction repaid")
            cluster.control_plane.kill("kube-apiserver")
            prometheus.wait_value("rescheduler_watch_in_sync == 0", timeout_seconds=120)
            cluster.control_plane.restart("kube-apiserver")
            assert process.stop() == 0
        use(cluster, "node-0", "node-1")
        with (
            metrics_server(cluster.control_plane),
            daemon(tool, "--policy", tool.policy(f"mode: DryRun{head}{MEASURED}")) as process,
        ):
            prometheus.wait_value("rescheduler_usage_age_seconds", timeout_seconds=120)
            assert process.stop() == 0
        assert empty_queries(prometheus, since) == []
