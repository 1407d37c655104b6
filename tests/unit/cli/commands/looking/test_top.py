"""``top``: measured load of nodes and pods on the command line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from rescheduler.adapters.clock import SystemClock
from tests.unit.cli.conftest import Answer
from tests.unit.composition.recorded_load import answers, recorded_cluster, recorded_policy

Shell = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cluster of two nodes, load of both up to now as a provider, and one answer of a watcher as a recording."""
    recorded_cluster(tmp_path, "a", "b")
    recorded_policy(tmp_path, answers(end=time.time(), a=20, b=95))
    report = json.loads(json.dumps(answers(a=30, b=40)[-1]))
    report["data"]["PodMetricsMap"] = {"default/pod-a": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 5.0}]}}
    (tmp_path / "report.json").write_text(json.dumps(report))
    return tmp_path


def top(shell: Shell, folder: Path, what: str, *more: str, source: str = "policy") -> Answer:
    """The command over the provider, or over the recording."""
    given = (
        ("--policy", str(folder / "policy.yaml")) if source == "policy" else ("--usage", str(folder / "report.json"))
    )
    return shell("top", what, "-f", str(folder / "cluster.json"), *given, *more)


def test_nodes_from_a_provider(shell: Shell, folder: Path) -> None:
    """The busiest first, with age and trust; plain off a terminal."""
    answer = top(shell, folder, "nodes")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "load of 2 nodes over 5m, from Recorded"
    assert lines[1].split() == ["NODE", "CPU", "MEMORY", "AGE", "TRUST", "WHY"]
    assert [line.split()[0] for line in lines[2:]] == ["b", "a"]
    assert lines[2].split()[1] == "95.2%"
    assert lines[2].split()[4] == "Trusted"
    assert "\x1b" not in answer.out
    assert "█" not in answer.out


def test_the_window_may_be_chosen(shell: Shell, folder: Path) -> None:
    """Fifteen minutes of a load that rises lie lower than five."""
    averages = {}
    for window in ("5m", "15m"):
        found = json.loads(top(shell, folder, "nodes", "--window", window, "-o", "json").out)
        assert found["window"] == window
        averages[window] = {row["node"]: row["cpu"]["average"] for row in found["nodes"]}
    assert averages["15m"]["a"] < averages["5m"]["a"]


@pytest.mark.parametrize("window", ["10s", "25h", "0s", "five"])
def test_a_window_that_cannot_be_kept_is_wrong_use(shell: Shell, folder: Path, window: str) -> None:
    """Shorter than the beat, or longer than a day."""
    answer = top(shell, folder, "nodes", "--window", window)
    assert (answer.code, answer.out) == (2, "")


def test_a_recording_in_place_of_a_provider(shell: Shell, folder: Path) -> None:
    """With its own window; nobody has assessed it."""
    answer = top(shell, folder, "nodes", "-o", "yaml", source="recording")
    found = yaml.safe_load(answer.out)
    assert answer.code == 0
    assert (found["kind"], found["window"]) == ("NodeUsageList", "60s")
    assert {row["node"]: (row["cpu"]["average"], row["trust"]) for row in found["nodes"]} == {
        "a": (30.2, ""),
        "b": (40.2, ""),
    }


def test_pods(shell: Shell, folder: Path) -> None:
    """In millicores, with their share of the node; what is not known is a dash, never 0."""
    answer = top(shell, folder, "pods", source="recording")
    rows = [line.split() for line in answer.out.splitlines()[2:]]
    assert rows == [["default/pod-a", "a", "200m", "-", "-", "-"], ["default/pod-b", "b", "-", "-", "-", "-"]]


def test_without_a_source_it_is_wrong_use(shell: Shell, folder: Path) -> None:
    """With the ways out."""
    answer = shell("top", "nodes", "-f", str(folder / "cluster.json"))
    assert (answer.code, answer.out) == (2, "")
    assert "usage.providers: none; write where load comes from, or give a recording of it with --usage" in answer.err


def test_a_provider_that_fails_shows_nodes_without_load(shell: Shell, folder: Path) -> None:
    """And says why, apart from the data."""
    (folder / "load.json").write_text("[]")
    answer = top(shell, folder, "nodes")
    assert answer.code == 0
    assert "warning: Recorded at" in answer.err
    assert answer.out.count("Missing") == 2
    assert "requests stand in" in answer.out


def test_watch_shows_it_until_it_is_interrupted(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anew after each interval."""
    pauses: list[float] = []

    def sleep(_: SystemClock, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(SystemClock, "sleep", sleep)
    answer = top(shell, folder, "nodes", "--watch")
    assert answer.code == 130
    assert answer.out.count("load of 2 nodes over 5m") == 2
    assert pauses == [15.0, 15.0]


def test_html_is_no_form_of_it(shell: Shell, folder: Path) -> None:
    """As elsewhere, the forms that there are are told."""
    assert "there are table, wide, json, yaml" in top(shell, folder, "nodes", "-o", "html").err


def test_wide_has_more_figures(shell: Shell, folder: Path) -> None:
    """Deviation and percentile."""
    heading = top(shell, folder, "nodes", "-o", "wide").out.splitlines()[1]
    for word in ("CPU STD", "CPU P95", "NETWORK", "DISK"):
        assert word in heading
