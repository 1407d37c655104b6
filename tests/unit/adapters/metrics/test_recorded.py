"""RecordedProvider: the contract, and what only a file does."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rescheduler.adapters.metrics.recorded import RecordedProvider
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW, node
from tests.metrics.contract import ProviderContract
from tests.metrics.scenes import Scene


def report(end: float, **nodes: dict[str, float]) -> dict[str, Any]:
    """An answer of GET /watcher with the latest cpu and memory of nodes, in percent."""
    return {
        "timestamp": int(end),
        "window": {"duration": "5m", "start": end - 300, "end": end},
        "source": "Prometheus",
        "data": {
            "NodeMetricsMap": {
                name: {"metrics": [{"type": kind, "operator": "Latest", "value": value} for kind, value in use.items()]}
                for name, use in nodes.items()
            }
        },
    }


class RecordedWorld:
    """A file with an answer for each time of a scene."""

    now = NOW
    tolerance = 1e-9
    lag = 1e-6
    has_history = True
    has_pods = has_rivals = False

    def __init__(self, folder: Path) -> None:
        self._file = folder / "load.json"

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> RecordedProvider:
        """As World; the last answer stands even where it holds no node."""
        times = sorted({load.at for loads in scene.hosts.values() for load in loads})
        by_time = {at: report(at) for at in times}
        for host, loads in scene.hosts.items():
            for load in loads:
                one = report(load.at, **{host: {"CPU": 100 * load.cpu, "Memory": 100 * load.memory}})
                by_time[load.at]["data"]["NodeMetricsMap"].update(one["data"]["NodeMetricsMap"])
        self._file.write_text(json.dumps([by_time[at] for at in times]))
        return RecordedProvider(self._file)

    def reaching(self, address: str) -> None:
        """As World: a file has no address."""


class TestContract(ProviderContract):
    """Every promise of a provider."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> RecordedWorld:
        """A file."""
        return RecordedWorld(tmp_path)


def provider_of(folder: Path, document: Any) -> RecordedProvider:
    """A provider of a file with this document."""
    file = folder / "load.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return RecordedProvider(file)


def test_one_answer_is_no_history(tmp_path: Path) -> None:
    """But a list of one is."""
    one = report(NOW, n1={"CPU": 25.0})
    ask = {"start": NOW - 600, "end": NOW, "step_seconds": 60.0}
    assert provider_of(tmp_path, one).history([node("n1")], **ask) is None
    found = provider_of(tmp_path, [one]).history([node("n1")], **ask)
    assert found is not None
    assert np.isfinite(found.values[CPU][:, 0]).sum() == 1


def test_the_average_stands_in_for_a_latest_value(tmp_path: Path) -> None:
    """As load watchers answer for sources that only have averages; the deviation is not taken for use."""
    found = report(NOW)
    readings = [("CPU", "AVG", 40.0), ("CPU", "STD", 5.0), ("Memory", "AVG", 60.0), ("Memory", "Latest", 70.0)]
    found["data"]["NodeMetricsMap"]["n1"] = {
        "metrics": [{"type": kind, "operator": operator, "value": value} for kind, operator, value in readings]
    }
    samples = provider_of(tmp_path, found).sample([node("n1")], now=NOW, with_pods=False).nodes
    assert samples.values[CPU].tolist() == [[0.4]]
    assert samples.values[MEMORY].tolist() == [[0.7]]
    assert samples.measured_at.tolist() == [[NOW]]


def test_the_form_of_the_design_is_read(tmp_path: Path) -> None:
    """Nodes right under ``data``, the statistic as ``rollup``."""
    found = {
        "timestamp": NOW,
        "window": {"duration": "15m", "start": NOW - 900, "end": NOW},
        "data": {"n1": {"metrics": [{"type": "cpu", "rollup": "AVG", "value": 20}]}},
    }
    samples = provider_of(tmp_path, found).sample([node("n1")], now=NOW, with_pods=False).nodes
    assert samples.values[CPU].tolist() == [[0.2]]


def test_answers_after_now_wait(tmp_path: Path) -> None:
    """A list can be played back: each time sees the newest answer that was there."""
    provider = provider_of(tmp_path, [report(NOW, n1={"CPU": 20.0}), report(NOW - 60, n1={"CPU": 10.0})])
    values = [
        provider.sample([node("n1")], now=now, with_pods=False).nodes.values[CPU][0, 0]
        for now in (NOW - 60, NOW - 1, NOW, NOW + 900)
    ]
    assert values == [0.1, 0.1, 0.2, 0.2]
    early = provider.sample([node("n1")], now=NOW - 3600, with_pods=False).nodes
    assert early.measured_at.tolist() == [[NOW]]  # later than now: the analyser sees that clocks differ


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    """What stands there now counts."""
    provider = provider_of(tmp_path, report(NOW, n1={"CPU": 25.0}))
    assert provider.sample([node("n1")], now=NOW, with_pods=False).nodes.values[CPU].tolist() == [[0.25]]
    replacement = tmp_path / "new.json"
    replacement.write_text(json.dumps(report(NOW, n1={"CPU": 75.0})))
    replacement.replace(tmp_path / "load.json")
    assert provider.sample([node("n1")], now=NOW, with_pods=False).nodes.values[CPU].tolist() == [[0.75]]


def test_a_file_that_has_gone_is_an_error_and_not_old_news(tmp_path: Path) -> None:
    """What was read before is not passed off as new."""
    provider = provider_of(tmp_path, report(NOW, n1={"CPU": 25.0}))
    provider.sample([node("n1")], now=NOW, with_pods=False)
    (tmp_path / "load.json").unlink()
    with pytest.raises(MetricsError, match="No such file"):
        provider.sample([node("n1")], now=NOW, with_pods=False)


def test_nodes_of_another_cluster_are_told(tmp_path: Path) -> None:
    """A recording that fits no node says so."""
    found = provider_of(tmp_path, report(NOW, other={"CPU": 25.0})).sample([node("n1")], now=NOW, with_pods=False)
    assert "none of its hosts (other) is a node of this cluster (such as n1)" in found.warnings[0]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "found 0 answers"),
        ("null", "wanted a mapping"),
        ('[{"a": 1}]', r"\[0\]: window"),
        (json.dumps(report(NOW, n1={"CPU": 1})).replace(": 1}", ': "1"}'), "wanted a number"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, document: str, said: str) -> None:
    """With the file, the place and what was wanted."""
    provider = provider_of(tmp_path, document)
    with pytest.raises(MetricsError, match=f"Recorded at .*load.json: .*{said}"):
        provider.sample([node("n1")], now=NOW, with_pods=False)


def test_a_folder_and_a_pipe_are_no_files(tmp_path: Path) -> None:
    """Neither is waited for."""
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe"):
        with pytest.raises(MetricsError, match="no file"):
            RecordedProvider(tmp_path / name).sample([node("n1")], now=NOW, with_pods=False)
