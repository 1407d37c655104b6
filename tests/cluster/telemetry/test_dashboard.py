"""The dashboard over a real Prometheus that scrapes a real run: every query of every panel has something to show.

Grafana is not here; what the queries answer is drawn by us, and is the picture in the docs.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browser import Browser, found_browser
from tests.browser.palette import with_palette
from tests.browser.screenshots import FOLDER
from tests.browser.test_screenshots import size
from tests.cluster.cluster import Cluster
from tests.cluster.daemon.test_approval import proposed
from tests.cluster.daemon_process import AT_ONCE, SHORT_LEASE, STRAYS, daemon
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import pod
from tests.cluster.telemetry.alerting import Prometheus, watching
from tests.cluster.telemetry.dashboard_drawing import WIDTH, Frame
from tests.cluster.telemetry.dashboard_drawing import page as drawn
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
PICTURE = FOLDER / "dashboard.png"
BLANK = (
    "[...document.querySelectorAll('section:not(.row)')].filter(one => !one.querySelector('path.line, .stats'))"
    ".map(one => one.innerText)"
)
CUT_OFF = (
    "[document.documentElement, ...document.querySelectorAll('section')].filter(one =>"
    " one.scrollWidth > one.clientWidth + 1 || (one.matches('section') && one.scrollHeight > one.clientHeight + 1))"
    ".map(one => one.innerText.slice(0, 100))"
)
MEASURED = "usage: {providers: [{name: MetricsServer}], interval: 5s, windows: [30s]}"


def filled(expression: str) -> str:
    """With Grafana's variables as they are when everything is chosen; scrapes are a second apart."""
    for name, value in (("$__rate_interval", "5s"), ("$namespace", ".*"), ("$job", ".*")):
        expression = expression.replace(name, value)
    return expression


def series(prometheus: Prometheus, expression: str, frame: Frame) -> list[dict[str, Any]]:
    """What a panel's query draws from then until now, without what is not a number."""
    times = {"start": frame.since, "end": frame.until, "step": frame.step}
    found = prometheus.ask("query_range", query=filled(expression), **times)["result"]
    drawn = [{**one, "values": [point for point in one["values"] if math.isfinite(float(point[1]))]} for one in found]
    return [one for one in drawn if one["values"]]


def answered(prometheus: Prometheus, frame: Frame) -> dict[int, list[list[dict[str, Any]]]]:
    """What each query of each panel draws, by the panel's id."""
    return {panel["id"]: [series(prometheus, target["expr"], frame) for target in panel["targets"]] for panel in PANELS}


def empty_queries(answers: Mapping[int, list[list[dict[str, Any]]]]) -> list[str]:
    """Queries that draw nothing, with the titles of their panels."""
    return [
        f"{panel['title']}: {target['expr']}"
        for panel in PANELS
        for target, answer in zip(panel["targets"], answers[panel["id"]], strict=True)
        if not answer
    ]


def picture_of(page: Path, browser: Browser) -> bytes:
    """The page as PNG, once nothing on it is empty, cut off or fetched."""
    browser.open(page, width=WIDTH)
    assert browser.complaints == []
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.value(BLANK) == []
    assert browser.value(CUT_OFF) == []
    browser.open(page, width=WIDTH, height=browser.value("document.documentElement.scrollHeight"))
    return browser.picture()


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
        frame = Frame(since, time.time())
        answers = answered(prometheus, frame)
        assert empty_queries(answers) == []
    page = tmp_path / "dashboard.html"
    page.write_text(drawn(DASHBOARD, answers, frame), encoding="utf-8")
    with found_browser(tmp_path / "profile") as browser:
        picture = picture_of(page, browser)
    if "DRAW_DASHBOARD" in os.environ:
        PICTURE.write_bytes(with_palette(picture))
    assert size(PICTURE.read_bytes()) == size(picture)
