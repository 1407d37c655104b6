"""DatadogProvider: what is asked, and what is made of good and bad answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from rescheduler.adapters.metrics.datadog import DatadogArguments, DatadogProvider, datadog_headers
from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW, node
from tests.loopback_server import Answer, LoopbackServer, Request, json_answer, loopback_server

NODES = [node("n1"), node("n2")]
AT = int(NOW * 1000)
KEYS = {"api": "4pi-k3y-text", "application": "4pp-k3y-text"}


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, object]:
    """Both credentials."""
    for name, text in KEYS.items():
        (tmp_path / name).write_text(text)
    return {f"{name}Key": {"file": str(tmp_path / name)} for name in KEYS}


@contextmanager
def datadog(
    answer: Answer | Callable[[Request], Answer], keys: dict[str, object], **arguments: object
) -> Iterator[tuple[DatadogProvider, LoopbackServer]]:
    """A provider, and the server that it asks."""
    with loopback_server(answer if callable(answer) else lambda _: answer) as server:
        read = DatadogArguments.model_validate({"address": server.address, **keys, **arguments})
        headers = datadog_headers(read)
        session = http_session(read, None, provider="Datadog", address=server.address, secret_headers=headers)
        yield DatadogProvider(read, session), server


def answered(times: Sequence[object], *found: tuple[str, int, Sequence[object]], **further: Any) -> Answer:
    """Series as (host, index of the query, values)."""
    series = [{"group_tags": [f"host:{host}"], "query_index": index, "unit": None} for host, index, _ in found]
    attributes = {"series": series, "times": times, "values": [values for _, _, values in found]}
    return json_answer({"data": {"type": "timeseries_response", "attributes": attributes}, **further})


def test_what_is_asked(keys: dict[str, object]) -> None:
    """One request for both metrics, with both keys in their headers."""
    arguments = {"hostNameSuffix": ".example.com", "clusterName": "prod"}
    with datadog(answered([]), keys, **arguments) as (provider, server):
        provider.sample(NODES, now=NOW, with_pods=True)
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/api/v2/query/timeseries")
    assert (request.headers["dd-api-key"], request.headers["dd-application-key"]) == tuple(KEYS.values())
    attributes = msgspec.json.decode(request.body)["data"]["attributes"]
    assert (attributes["from"], attributes["to"], attributes["interval"]) == (AT - 300_000, AT, 60_000)
    assert [one["query"] for one in attributes["queries"]] == [
        f"max:{metric}.utilization{{host:*.example.com, cluster_name:prod}} by {{host}}.rollup(max, 60)"
        for metric in ("cpu", "memory")
    ]
    assert [one["name"] for one in attributes["queries"]] == [one["formula"] for one in attributes["formulas"]]


def test_the_site_is_where_the_api_is() -> None:
    """Unless an address is given."""
    key = {"file": "x"}
    assert DatadogArguments(api_key=key, application_key=key, site="datadoghq.eu").api_address == (  # type: ignore[arg-type]
        "https://api.datadoghq.eu"
    )


def test_the_last_point_that_is_there_counts(keys: dict[str, object]) -> None:
    """In percent, with its own time; a series of nulls is unknown."""
    answer = answered(
        [AT - 120_000, AT - 60_000, AT],
        ("n1", 0, [90.0, 25.0, None]),
        ("n1", 1, [None, None, 50.0]),
        ("n2", 0, [None, None, None]),
    )
    with datadog(answer, keys) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=True)
    assert (found.nodes.values[CPU][0, 0], found.nodes.values[MEMORY][0, 0]) == (0.25, 0.5)
    assert found.nodes.measured_at[0, 0] == NOW - 60
    assert np.isnan(found.nodes.values[CPU][0, 1])
    assert found.pods is None


def test_the_agents_own_metrics(keys: dict[str, object]) -> None:
    """What is idle or free, in percent or as a fraction."""
    arguments = {
        "cpu": {"metric": "system.cpu.idle", "isFree": True},
        "memory": {"metric": "system.mem.pct_usable", "unit": "Fraction", "isFree": True},
        "rollup": "min",
    }
    with datadog(answered([AT], ("n1", 0, [75.0]), ("n1", 1, [0.5])), keys, **arguments) as (provider, _):
        values = provider.sample(NODES, now=NOW, with_pods=False).nodes.values
    assert (values[CPU][0, 0], values[MEMORY][0, 0]) == (0.25, 0.5)


def test_hosts_are_found_among_other_tags(keys: dict[str, object]) -> None:
    """A series of no host is passed over."""
    series = [
        {"group_tags": ["env:prod", "host:n1"], "query_index": 0},
        {"group_tags": ["env:prod"], "query_index": 0},
        {"query_index": 0},
    ]
    attributes = {"series": series, "times": [AT], "values": [[25.0], [75.0], [75.0]]}
    with datadog(json_answer({"data": {"attributes": attributes}}), keys) as (provider, _):
        assert provider.sample(NODES, now=NOW, with_pods=False).nodes.values[CPU][0, 0] == 0.25


def test_a_minute_belongs_to_its_end(keys: dict[str, object]) -> None:
    """Points carry the beginning of their minute; longer steps are rolled up by the source."""
    with datadog(answered([AT - 120_000, AT - 60_000], ("n1", 0, [25.0, 75.0])), keys) as (provider, server):
        found = provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=60)
        provider.history(NODES, start=NOW - 600, end=NOW, step_seconds=300)
    assert found is not None
    assert found.values[CPU][:, 0].tolist() == [0.25, 0.75]
    asked = [msgspec.json.decode(request.body)["data"]["attributes"] for request in server.requests]
    assert [one["interval"] for one in asked] == [60_000, 300_000]
    assert ".rollup(max, 300)" in asked[1]["queries"][0]["query"]


def test_errors_beside_data_make_it_partial(keys: dict[str, object]) -> None:
    """The source's words are told; a history is refused."""
    with datadog(answered([AT], ("n1", 0, [25.0]), errors="query timed out"), keys) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
        with pytest.raises(MetricsError, match="query timed out"):
            provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=60)
    assert found.is_partial
    assert found.nodes.values[CPU][0, 0] == 0.25


@pytest.mark.parametrize("value", ["NaN", "25", True, [], {"a": 1}])
def test_a_value_that_is_no_number_makes_the_node_unusable(value: object, keys: dict[str, object]) -> None:
    """The other node is untouched."""
    with datadog(answered([AT], ("n1", 0, [value]), ("n2", 0, [50.0])), keys) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
    assert set(found.unusable) == {"n1"}
    assert found.nodes.values[CPU][0, 1] == 0.5


@pytest.mark.parametrize(
    "answer",
    [
        json_answer({"data": {"attributes": {"series": [{"query_index": 0}], "times": [AT], "values": []}}}),
        answered([AT], ("n1", 0, [1.0, 2.0])),
        answered([AT], ("n1", 2, [1.0])),
        answered([AT], ("n1", -1, [1.0])),
        json_answer({"data": {"attributes": {"series": 7}}}),
        json_answer({"data": {}}),
        json_answer({"errors": ["no such metric"]}),
        json_answer({}),
        json_answer(None),
        Answer(b"<html>login</html>"),
        Answer(b'{"data": {"attributes"'),
        json_answer({"errors": ["Unauthorized"]}, 401),
        json_answer({"errors": ["Forbidden"]}, 403),
        json_answer({"errors": ["Rate limit of 100 requests in 3600 seconds reached"]}, 429),
    ],
)
def test_a_bad_answer_is_an_error_that_names_the_source(answer: Answer, keys: dict[str, object]) -> None:
    """Never a sample with holes."""
    with datadog(answer, keys) as (provider, server), pytest.raises(MetricsError) as caught:
        provider.sample(NODES, now=NOW, with_pods=False)
    assert str(caught.value).startswith(f"Datadog at {server.address}: ")
    assert not any(text in str(caught.value) for text in KEYS.values())
