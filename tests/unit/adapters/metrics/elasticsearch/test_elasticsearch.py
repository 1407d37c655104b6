"""ElasticsearchProvider on answers recorded from real servers, and on bad ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, PodKey
from tests.builders import NOW, node
from tests.loopback_server import Answer, Request, json_answer
from tests.unit.adapters.metrics.search_answers import EMPTY, elasticsearch, host, newest, page, serving, sources

RECORDED = sorted((Path(__file__).parent / "recorded_searches").glob("*.json"))
NODES = [node("n1"), node("n2"), node("n3")]


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_recorded_answers(file: Path) -> None:
    """What the servers of three kinds answered is read alike, and still asked for in the same words."""
    exchanges = json.loads(file.read_text())

    def answer(request: Request) -> Answer:
        asked = msgspec.json.decode(request.body)
        asked["timeout"] = exchanges[0]["request"]["timeout"]
        return json_answer(next(one["answer"] for one in exchanges if one["request"] == asked))

    with elasticsearch(answer) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=True)
        before = provider.history(NODES, start=NOW - 120, end=NOW, step_seconds=30)
    values = found.nodes.values
    assert values[CPU][0, :2] == pytest.approx([0.2, 0.9])
    assert values[MEMORY][0, :2] == pytest.approx([0.25, 0.9])
    assert values[NETWORK][0, :2] == pytest.approx([3000, 3000])
    assert values[DISK][0, :2] == pytest.approx([0.6, 0.6])
    assert np.isnan([values[metric][0, 2] for metric in values]).all()
    assert found.nodes.measured_at[0, :2].tolist() == [NOW, NOW]
    assert found.pods is not None
    assert found.pods.pods == (PodKey("ns", "p1"),)
    assert found.pods.values[CPU].tolist() == [300.0]
    assert (found.warnings, found.unusable, found.is_partial) == ((), {}, False)
    assert before is not None
    assert before.values[CPU][:, 0] == pytest.approx([0.214, 0.211, 0.208, 0.205, 0.202])


def test_recordings_are_there() -> None:
    """Of Elasticsearch 7 and 8, and of OpenSearch."""
    assert [file.stem.rpartition(".")[0] for file in RECORDED] == [
        "elasticsearch-7.17",
        "elasticsearch-8.15",
        "opensearch-2.19",
    ]


@pytest.mark.parametrize("value", ["NaN", "0.5", None, True, {"a": 1}])
def test_a_value_that_is_no_number_makes_the_node_unusable(value: object) -> None:
    """Told with the host; the other node is untouched."""
    with elasticsearch(serving(page(host("n1", value), host("n2", 0.25)))) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
    assert set(found.unusable) == {"n1"}
    assert found.nodes.values[CPU][0, 1] == 0.25


def test_a_document_without_time_is_unusable() -> None:
    """Its age is unknown, so it could be from last year."""
    lost = {**EMPTY, "key": {"k0": "n1"}, "host.cpu.usage": newest({"fields": {"host.cpu.usage": [0.5]}})}
    with elasticsearch(serving(page(lost))) as (provider, _):
        assert set(provider.sample(NODES, now=NOW, with_pods=False).unusable) == {"n1"}


@pytest.mark.parametrize(
    "doubt",
    [
        {"timed_out": True},
        {"terminated_early": True},
        {"_shards": {"total": 5, "successful": 4, "failed": 1, "failures": [{"reason": {"type": "x"}}]}},
        {"_clusters": {"total": 2, "successful": 1, "skipped": 1}},
        {"_clusters": {"total": 2, "successful": 1, "skipped": 0, "partial": 1}},
    ],
)
def test_an_answer_in_part_is_partial(doubt: Mapping[str, Any]) -> None:
    """What is there is given, with a warning; a history in part is refused."""
    with elasticsearch(serving(page(host("n1", 0.5), **doubt))) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
    with elasticsearch(lambda _: page(**doubt)) as (provider, _), pytest.raises(MetricsError, match="not whole"):
        provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=60)
    assert found.is_partial
    assert found.warnings
    assert found.nodes.values[CPU][0, 0] == 0.5


def test_pages_follow_each_other() -> None:
    """Each is asked for from the last key on."""

    def answer(request: Request) -> Answer:
        if '"k1"' in sources(request):
            return page()
        after = msgspec.json.decode(request.body)["aggs"]["by"]["composite"].get("after")
        if after is None:
            return page(host("n1", 0.1), after={"k0": "n1"})
        return page(host("n2", 0.2), after={"k0": "n2"}) if after == {"k0": "n1"} else page()

    with elasticsearch(answer) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
    assert found.nodes.values[CPU][0, :2].tolist() == [0.1, 0.2]


def test_a_server_that_turns_in_circles_is_an_error() -> None:
    """The same page again and again is not asked for for ever."""
    with (
        elasticsearch(serving(page(host("n1", 0.1), after={"k0": "n1"}))) as (provider, _),
        pytest.raises(MetricsError, match="again and again"),
    ):
        provider.sample(NODES, now=NOW, with_pods=False)


@pytest.mark.parametrize(
    "answer",
    [
        json_answer({"timed_out": False, "_shards": {"total": 3}, "hits": {"hits": []}}),
        json_answer({"aggregations": {"by": {"buckets": [{"doc_count": 1}]}}}),
        json_answer({"aggregations": {"by": {"buckets": [{"key": "n1"}]}}}),
        json_answer({"aggregations": {"by": {"buckets": {"a": 1}}}}),
        json_answer({"aggregations": {"by": {"buckets": [{"key": {"k0": "n1"}, "host.cpu.usage": {"doc_count": 1}}]}}}),
        json_answer({"aggregations": {"by": {"buckets": [{"key": {"k0": "n1"}, "host.cpu.usage": newest(7)}]}}}),  # type: ignore[arg-type]
        json_answer({"aggregations": 1}),
        json_answer([]),
        json_answer(None),
        Answer(b'{"aggregations": {"by"'),
        Answer(b"<html>login</html>"),
        Answer(b"", 204),
        json_answer({"error": {"root_cause": [], "type": "x", "reason": "y"}, "status": 500}, 500),
        json_answer({"error": "plain"}, 500),
        json_answer({"error": {"root_cause": [7]}}, 429),
    ],
)
def test_a_bad_answer_is_an_error_that_names_the_source(answer: Answer) -> None:
    """Never a sample with holes."""
    with elasticsearch(lambda _: answer) as (provider, server), pytest.raises(MetricsError) as caught:
        provider.sample(NODES, now=NOW, with_pods=True)
    assert str(caught.value).startswith(f"Elasticsearch at {server.address}: ")


@pytest.mark.parametrize(
    ("status", "kind", "wanted"),
    [
        (401, "security_exception", "check basicAuth or apiKey"),
        (403, "security_exception", "right to read the index"),
        (400, "illegal_argument_exception", "unreadable"),
        (404, "index_not_found_exception", "index_not_found_exception"),
    ],
)
def test_the_servers_own_reason_is_told(status: int, kind: str, wanted: str) -> None:
    """It stands deep in the answer."""
    cause = {"type": kind, "reason": "unreadable"}
    body = {"error": {"root_cause": [cause], "type": "search_phase_execution_exception", "reason": "all shards failed"}}
    with elasticsearch(lambda _: json_answer(body, status)) as (provider, _), pytest.raises(MetricsError, match=wanted):
        provider.sample(NODES, now=NOW, with_pods=False)


def test_an_api_key_is_sent_and_never_told(tmp_path: Path) -> None:
    """As the encoded form that the server gives."""
    file = tmp_path / "key"
    file.write_text("VnVhQ2ZHY0JDZGJr\n")
    echo = {"error": {"root_cause": [{"type": "x", "reason": "bad ApiKey VnVhQ2ZHY0JDZGJr"}]}}
    with (
        elasticsearch(lambda _: json_answer(echo, 401), apiKey={"file": str(file)}) as (provider, server),
        pytest.raises(MetricsError) as caught,
    ):
        provider.sample(NODES, now=NOW, with_pods=False)
    assert server.requests[0].headers["authorization"] == "ApiKey VnVhQ2ZHY0JDZGJr"
    assert "VnVhQ2ZHY0JDZGJr" not in str(caught.value)


def test_without_network_disk_or_pods_the_rest_is_there() -> None:
    """A failing search for them is a warning each; the sample is whole as to cpu and memory."""

    def answer(request: Request) -> Answer:
        return json_answer({"error": "no"}, 400) if '"k1"' in sources(request) else page(host("n1", 0.5))

    with elasticsearch(answer) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=True)
    assert found.nodes.values[CPU][0, 0] == 0.5
    assert found.pods is None
    assert not found.is_partial
    assert sum("is left out" in warning for warning in found.warnings) == 3


def test_a_counter_with_one_document_or_a_fall_gives_no_rate() -> None:
    """Neither does one whose documents have the same time."""
    counters = {"system.network.in.bytes": 9, "system.network.out.bytes": 9}

    def point(seconds: float, **changed: object) -> dict[str, Any]:
        fields = {**counters, **{name.replace("__", "."): value for name, value in changed.items()}}
        return {"fields": {"@timestamp": [int((NOW + seconds) * 1000)], **{k: [v] for k, v in fields.items()}}}

    devices = {
        "one": newest(point(0)),
        "fell": newest(point(0, system__network__in__bytes=1), point(-10)),
        "twins": newest(point(0, system__network__in__bytes=99), point(0)),
        "text": newest(point(0, system__network__in__bytes="many"), point(-10)),
    }

    def answer(request: Request) -> Answer:
        if "system.network.name" not in sources(request):
            return page()
        return page(*({"key": {"k0": "n1", "k1": name}, "counters": found} for name, found in devices.items()))

    with elasticsearch(answer) as (provider, _):
        assert np.isnan(provider.sample(NODES, now=NOW, with_pods=False).nodes.values[NETWORK]).all()
