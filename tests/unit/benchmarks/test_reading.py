"""The reading benchmark: its data are realistic, its report has the common form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.reading.__main__ import main
from benchmarks.reading.data import node_pages, pod_pages
from tests.unit.adapters.api_objects import list_of, node_object, read


def test_pods_are_of_realistic_size_and_the_same_for_a_seed() -> None:
    """About 7 kB each, distinct names, 15 replicas of a template."""
    pages = list(pod_pages(600, 20, seed=1))
    assert pages == list(pod_pages(600, 20, seed=1))
    assert 6_000 < sum(map(len, pages)) / 600 < 8_000
    cluster = read(b"".join([*pages, *node_pages(20, seed=1)]))
    assert (len(cluster.pods), len(cluster.nodes)) == (600, 20)
    assert len({id(pod.spec) for pod in cluster.pods}) == 40
    assert not cluster.warnings


def test_the_report_has_the_common_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Instance, seconds, memory, value, bound and result."""
    assert main(["--pods", "600", "--nodes", "20", "--alone", "-o", str(tmp_path / "r.json")]) == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert {"instance", "seconds", "peakMegabytes", "value", "bound", "result"} <= report.keys()
    assert (report["value"], report["result"]["nodes"], report["result"]["specifications"]) == (600, 20, 40)
    assert capsys.readouterr().out == ""


def test_a_recording_may_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any recording of the usual form."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(list_of(node_object())))
    assert main(["--data", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["nodes"] == 1
