"""Alerts and dashboard come with the chart as they stand in deploy/monitoring."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.chart import CHART, of_kind, render

MONITORING = CHART.parents[1] / "monitoring"
ON = {"prometheusRule": {"enabled": True}, "grafanaDashboard": {"enabled": True}, "serviceMonitor": {"enabled": True}}


def test_the_rule_is_the_one_that_is_tested() -> None:
    """Its groups are those of rules.yaml, templates of Prometheus left as they are."""
    [rule] = of_kind(render(ON), "PrometheusRule")
    assert rule["spec"]["groups"] == yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"]


def test_promtool_takes_the_rendered_rule(tmp_path: Path) -> None:
    """As Prometheus itself would read it."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (tests/install_packages.sh installs it)")
    [rule] = of_kind(render(ON), "PrometheusRule")
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump(rule["spec"]))
    done = subprocess.run([promtool, "check", "rules", str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "SUCCESS" in done.stdout


def test_the_dashboard_is_the_file() -> None:
    """Where Grafana's sidecar looks for it."""
    values = {**ON, "grafanaDashboard": {"enabled": True, "labels": {"panels": "yes"}}}
    [board] = [item for item in of_kind(render(values), "ConfigMap") if "rescheduler.json" in item["data"]]
    assert json.loads(board["data"]["rescheduler.json"]) == json.loads((MONITORING / "dashboard.json").read_text())
    assert board["metadata"]["labels"]["panels"] == "yes"


def test_the_monitor_finds_the_service() -> None:
    """By its labels, at a port that it has."""
    found = render(ON)
    [monitor], [service] = of_kind(found, "ServiceMonitor"), of_kind(found, "Service")
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"][0]["port"] in [port["name"] for port in service["spec"]["ports"]]


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_a_plan_is_not_scraped(kind: str) -> None:
    """It ends before anybody would look."""
    assert of_kind(render({**ON, "kind": kind}), "PrometheusRule", "ServiceMonitor", "Service") == []
