"""The contract with stock clients, byte by byte: status, content type and body of each provider and failure."""

from __future__ import annotations

import json
import re

import pytest

from tests.unit.daemon.api.golden_cases import CASES, FOLDER, told
from tests.unit.daemon.api.stock_client import ClientError, decode

SERVED = sorted(name for name in CASES if not name.startswith(("failure", "health", "head")))
PROVIDERS = {
    "prometheus": "Prometheus",
    "metrics_server": "KubernetesMetricsServer",
    "custom_metrics": "CustomMetrics",
    "elasticsearch": "Elasticsearch",
    "influxdb": "InfluxDB",
    "signalfx": "SignalFx",
    "datadog": "Datadog",
    "recorded": "Recorded",
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_answer_is_the_golden_one(name: str) -> None:
    """Whoever changes a byte of it changes what clients read."""
    assert told(CASES[name].answer) == (FOLDER / f"{name}.txt").read_bytes()


def test_no_golden_answer_is_left_over() -> None:
    """Every file belongs to a case."""
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize("name", SERVED)
def test_golden_documents_have_every_key_and_no_exponent(name: str) -> None:
    """Read from the files alone, without our own code."""
    status, type_, _, body = (FOLDER / f"{name}.txt").read_text().split("\n", 3)
    assert (status, type_) == ("200", "application/json")
    document = json.loads(body)
    assert list(document) == ["timestamp", "window", "source", "data"]
    assert list(document["window"]) == ["duration", "start", "end"]
    for node in document["data"]["NodeMetricsMap"].values():
        assert list(node) == ["metrics", "tags", "metadata"]
        assert (node["tags"], node["metadata"]) == ({}, {"dataCenter": ""})
        for metric in node["metrics"]:
            assert list(metric) == ["name", "type", "operator", "rollup", "value"]
            assert isinstance(metric["value"], float)
    assert not re.search(r"[0-9][eE]|NaN|Infinity|null", body)


@pytest.mark.parametrize(("name", "source"), PROVIDERS.items())
def test_a_stock_client_reads_every_provider_alike(name: str, source: str) -> None:
    """Source under the name it knows; cpu as TargetLoadPacking takes it, mean and deviation as the risk plugins do."""
    report = decode(200, CASES[name].answer.body)
    assert report.source == source
    assert report.window == ("15m", 1_799_999_100, 1_800_000_000)
    assert {node: report.cpu_of(node) for node in report.nodes} == {
        "node-1": 42.5,
        "node-2": 0.0,
        "ip-10-0-0-3.ec2.internal": 1e-7,
    }
    assert report.risk_inputs("node-1", "Memory") == (42.5, 3.25)


@pytest.mark.parametrize("name", sorted(set(CASES) - set(SERVED) - {"health_well", "health_without_a_token", "head"}))
def test_a_stock_client_takes_every_failure_for_an_error(name: str) -> None:
    """It keeps the snapshot that it has."""
    answer = CASES[name].answer
    with pytest.raises(ClientError):
        decode(answer.status, answer.body)


def test_an_untrusted_node_is_absent_for_a_stock_client() -> None:
    """Which scores it 0, as any node without metrics."""
    report = decode(200, CASES["untrusted_node"].answer.body)
    assert report.cpu_of("node-1") is None
    assert report.cpu_of("node-2") == 0.0
