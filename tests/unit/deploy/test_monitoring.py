"""Alert rules, dashboard and their page: they speak of metrics that exist, and fire when they should."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from rescheduler.adapters.telemetry.metrics.figures import FIGURES, metrics_table
from rescheduler.adapters.telemetry.metrics.metrics import Metrics
from rescheduler.adapters.telemetry.words import OUTCOMES, WORDS
from tests.clocks import FakeClock
from tests.paths import DEPLOY, ROOT
from tests.unit.adapters.telemetry.daemon_notices import all_notices
from tests.unit.adapters.telemetry.metrics.test_metrics import FULL

FOLDER = DEPLOY / "monitoring"
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
OF_SCRAPING = {"namespace", "job", "instance"}
METRIC = re.compile(r"\b((?:rescheduler|process)_[a-z_0-9]+)(?:\{([^}]*)\})?")
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")


@cache
def loaded(name: str) -> Any:
    """A file of the folder as data."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else yaml.safe_load(text)


def rules() -> list[dict[str, Any]]:
    """Every rule of every group."""
    return [rule for group in loaded("rules.yaml")["groups"] for rule in group["rules"]]


ALERTS = [rule["alert"] for rule in rules() if "alert" in rule]


def panels() -> list[dict[str, Any]]:
    """Panels with a query."""
    return [panel for panel in loaded("dashboard.json")["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[str]:
    """Every PromQL expression that we ship."""
    dashboard = loaded("dashboard.json")
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])
    yield from (annotation["expr"] for annotation in dashboard["annotations"]["list"])
    yield from (variable["definition"] for variable in dashboard["templating"]["list"] if "definition" in variable)


def names() -> Mapping[str, set[str]]:
    """Every name under which Prometheus keeps a metric of ours, with its labels."""
    found: dict[str, set[str]] = {}
    for figure in FIGURES:
        labels = set(figure.labels)
        if figure.kind == "histogram":
            found[f"{figure.full_name}_bucket"] = labels | {"le"}
            found |= {f"{figure.full_name}_{part}": labels for part in ("sum", "count")}
        else:
            found[figure.full_name] = labels
    return found


def promtool(*arguments: str, cwd: Path = FOLDER, stdin: str | None = None) -> str:
    """What promtool says of something that it accepts."""
    assert PROMTOOL is not None
    done = subprocess.run(
        [PROMTOOL, *arguments], cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_metric_in_rules_and_panels_exists_with_its_labels() -> None:
    """A panel of a metric that was renamed would be empty, an alert would never fire."""
    known = names()
    for expression in expressions():
        for name, matchers in METRIC.findall(expression):
            if name.startswith("process_"):
                continue
            assert name in known, f"{name} in {expression}"
            labels = set(re.findall(r"([a-z_]+)\s*(?:=~|!~|!=|=)", matchers))
            assert labels <= known[name] | OF_SCRAPING, f"{labels} of {name} in {expression}"


def test_every_metric_is_shown_somewhere() -> None:
    """In a panel or in an alert: what nobody looks at need not be counted."""
    text = "\n".join(expressions())
    used = {name for name, _ in METRIC.findall(text)}
    unused = [
        figure.full_name
        for figure in FIGURES
        if not used & {figure.full_name, *(f"{figure.full_name}_{part}" for part in ("bucket", "sum", "count"))}
    ]
    assert unused == []


def test_outcomes_in_expressions_are_outcomes_that_are_told() -> None:
    """A word that is never told would make an alert that never fires."""
    told = {word.replace(" ", "_") for word in WORDS} | set(OUTCOMES)
    for expression in expressions():
        for value in re.findall(r'outcome(?:=~|!~|!=|=)"([^"]*)"', expression):
            assert set(value.split("|")) <= told, expression


def test_every_panel_stands_by_itself() -> None:
    """With a title, a sentence, a place of its own, and a query on the chosen data source."""
    found = loaded("dashboard.json")
    places = [tuple(panel["gridPos"][key] for key in "xywh") for panel in found["panels"]]
    assert len(set(places)) == len(places)
    assert all(x + w <= 24 for x, _, w, _ in places)
    assert len({panel["id"] for panel in found["panels"]}) == len(places)
    for panel in panels():
        assert panel["title"], panel["id"]
        assert panel["description"].endswith("."), panel["title"]
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_the_operators_rules_are_the_same() -> None:
    """The PrometheusRule holds what rules.yaml holds."""
    found = loaded("prometheus-rule.yaml")
    assert (found["apiVersion"], found["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert found["spec"]["groups"] == loaded("rules.yaml")["groups"]


@pytest.mark.parametrize("rule", [rule for rule in rules() if "alert" in rule], ids=ALERTS)
def test_every_alert_has_a_runbook(rule: dict[str, Any]) -> None:
    """Its link leads to a heading of the page; it says how bad it is and what it means."""
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert (page, anchor) == ("docs/operations.md", rule["alert"].lower())
    assert f"\n### {rule['alert']}\n" in PAGE
    assert rule["labels"]["severity"] in ("info", "warning", "critical")
    assert rule["annotations"]["summary"].endswith(".")
    assert rule["annotations"]["description"]


def test_no_runbook_without_its_alert() -> None:
    """What was taken out of the rules goes from the page too."""
    assert re.findall(r"\n### (Rescheduler\w+)\n", PAGE) == ALERTS


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_is_tested_both_ways(alert: str) -> None:
    """At least one case in which it fires, and one in which it does not."""
    cases = [
        case
        for test in loaded("rules_test.yaml")["tests"]
        for case in test["alert_rule_test"]
        if case["alertname"] == alert
    ]
    assert any(case["exp_alerts"] for case in cases)
    assert any(not case["exp_alerts"] for case in cases)


@needs_promtool
def test_the_rules_are_rules_and_fire_when_they_should() -> None:
    """As Prometheus itself reads them."""
    promtool("check", "rules", "rules.yaml")
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yaml")


@needs_promtool
def test_metrics_are_named_as_prometheus_wants_them() -> None:
    """Units, suffixes and help texts, as promtool judges them."""
    metrics = Metrics(FakeClock(), FULL)
    for notice in all_notices():
        metrics.hear(notice)
    assert promtool("check", "metrics", stdin=metrics.text().decode()) == ""


@needs_promtool
def test_every_panels_query_can_be_read(tmp_path: Path) -> None:
    """With Grafana's variables filled in."""
    filled = [
        target["expr"].replace("$__rate_interval", "5m").replace("$namespace", ".*").replace("$job", ".*")
        for panel in panels()
        for target in panel["targets"]
    ]
    group = {
        "name": "panels",
        "rules": [{"record": f"panel:{number}", "expr": one} for number, one in enumerate(filled)],
    }
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [group]}))
    promtool("check", "rules", "panels.yaml", cwd=tmp_path)


def test_the_page_has_the_table_of_metrics() -> None:
    """Word for word as the table in the code; ``metrics_table()`` writes it anew."""
    assert metrics_table() in PAGE
