"""SignalFxProvider: what is asked, and what is made of good and bad answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.signalfx import SignalFxArguments, SignalFxProvider, signalfx_headers
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW, node
from tests.loopback_server import Answer, LoopbackServer, Request, json_answer, loopback_server

NODES = [node("n1"), node("n2")]
AT = int(NOW * 1000)
TOKEN = "s1gnal-t0ken"


@pytest.fixture
def token(tmp_path: Path) -> dict[str, str]:
    """A credential."""
    file = tmp_path / "token"
    file.write_text(TOKEN)
    return {"file": str(file)}


@contextmanager
def signalfx(
    answer: Callable[[Request], Answer], token: dict[str, str], **arguments: object
) -> Iterator[tuple[SignalFxProvider, LoopbackServer]]:
    """A provider, and the server that it asks."""
    with loopback_server(answer) as server:
        read = SignalFxArguments.model_validate({"address": server.address, "token": token, **arguments})
        headers = signalfx_headers(read)
        session = http_session(read, None, provider="SignalFx", address=server.address, secret_headers=headers)
        yield SignalFxProvider(read, session), server


def hosts(**found: str) -> Answer:
    """The metadata of series by their ids."""
    results = [{"id": identity, "dimensions": {"host": host}} for identity, host in found.items()]
    return json_answer({"count": len(results), "results": results})


def window(**data: Any) -> Answer:
    """Points of series by their ids."""
    return json_answer({"data": data, "errors": []})


def serving(points: Answer, metadata: Answer | None = None) -> Callable[[Request], Answer]:
    """Answers with these points and, if not told otherwise, with the hosts n1 and n2 for the ids A and B."""
    known = metadata or hosts(A="n1", B="n2.example.com")
    return lambda request: points if request.route == "/v1/timeserieswindow" else known


def test_what_is_asked(token: dict[str, str]) -> None:
    """Points and hosts of each metric, with the token in its header and nothing of it in the URL."""
    arguments = {"hostNameSuffix": ".example.com", "clusterName": "prod"}
    with signalfx(serving(window(A=[[AT, 25.0]])), token, **arguments) as (provider, server):
        provider.sample(NODES, now=NOW, with_pods=True)
    wanted = 'host:*.example.com AND cluster:prod AND sf_metric:"{}.utilization"'
    asked = [(request.route, request.query["query"]) for request in server.requests]
    assert asked == [
        (route, wanted.format(metric))
        for metric in ("cpu", "memory")
        for route in ("/v1/timeserieswindow", "/v2/metrictimeseries")
    ]
    first = server.requests[0]
    assert {name: first.query[name] for name in ("startMs", "endMs", "resolution")} == {
        "startMs": str(AT - 300_000),
        "endMs": str(AT),
        "resolution": "60000",
    }
    assert first.headers["x-sf-token"] == TOKEN
    assert all(TOKEN not in request.path for request in server.requests)


def test_the_last_point_counts_with_its_own_time(token: dict[str, str]) -> None:
    """In percent; null points say nothing; points in any order."""
    points = window(A=[[AT - 60_000, 25.0], [AT - 180_000, 75.0], [AT, None]], B=[])
    with signalfx(serving(points), token) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=True)
    assert found.nodes.values[CPU][0, 0] == pytest.approx(0.25)
    assert np.isnan(found.nodes.values[CPU][0, 1])
    assert found.nodes.measured_at[0, 0] == NOW - 60
    assert found.pods is None


def test_two_series_of_one_host_must_agree(token: dict[str, str]) -> None:
    """Two agents that say different things make the node unusable."""
    points = window(A=[[AT, 25.0]], B=[[AT, 95.0]])
    with signalfx(serving(points, hosts(A="n1", B="n1")), token) as (provider, _):
        assert set(provider.sample(NODES, now=NOW, with_pods=False).unusable) == {"n1"}


def test_series_without_a_host_are_counted(token: dict[str, str]) -> None:
    """Points and metadata come apart: what has no host is told, the rest is there."""
    points = window(A=[[AT, 25.0]], X=[[AT, 95.0]], Y=[[AT, 95.0]])
    with signalfx(serving(points), token) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
    assert found.nodes.values[CPU][0, 0] == 0.25
    assert any("2 series are of no host" in warning for warning in found.warnings)


def test_errors_in_a_good_answer_make_it_partial(token: dict[str, str]) -> None:
    """The source's words are told; a history is refused."""
    points = json_answer({"data": {"A": [[AT, 25.0]]}, "errors": ["too many series"]})
    with signalfx(serving(points), token) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
        with pytest.raises(MetricsError, match="too many series"):
            provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=60)
    assert found.is_partial
    assert any("too many series" in warning for warning in found.warnings)


def test_metadata_come_in_pages(token: dict[str, str]) -> None:
    """Ten thousand at a time."""

    def answer(request: Request) -> Answer:
        if request.route == "/v1/timeserieswindow":
            return window(**{"10000": [[AT, 25.0]]})
        start = int(request.query["offset"])
        results = [{"id": str(at), "dimensions": {"host": "n1" if at == 10_000 else "x"}} for at in range(10_001)]
        return json_answer({"count": 10_001, "results": results[start : start + 10_000]})

    with signalfx(answer, token) as (provider, _):
        assert provider.sample(NODES, now=NOW, with_pods=False).nodes.values[CPU][0, 0] == 0.25


def test_a_minute_belongs_to_its_end(token: dict[str, str]) -> None:
    """Points carry the beginning of their minute; a step of five minutes asks for points of five."""
    with signalfx(serving(window(A=[[AT - 120_000, 25.0], [AT - 60_000, 75.0]])), token) as (provider, server):
        found = provider.history(NODES, start=NOW - 60, end=NOW, step_seconds=60)
        provider.history(NODES, start=NOW - 600, end=NOW, step_seconds=300)
    assert found is not None
    assert found.values[MEMORY][:, 0].tolist() == [0.25, 0.75]
    assert {request.query["resolution"] for request in server.requests if "resolution" in request.query} == {
        "60000",
        "300000",
    }


@pytest.mark.parametrize("value", ["NaN", "25", True, [], {"a": 1}])
def test_a_value_that_is_no_number_makes_the_node_unusable(value: object, token: dict[str, str]) -> None:
    """The other node is untouched."""
    with signalfx(serving(window(A=[[AT, value]], B=[[AT, 50.0]])), token) as (provider, _):
        found = provider.sample(NODES, now=NOW, with_pods=False)
    assert set(found.unusable) == {"n1"}
    assert found.nodes.values[CPU][0, 1] == 0.5


@pytest.mark.parametrize(
    ("points", "metadata"),
    [
        (json_answer({"data": [1]}), None),
        (json_answer({"data": {"A": [[AT, 1.0], 7]}}), None),
        (json_answer({"data": {"A": "x"}}), None),
        (json_answer({}), None),
        (json_answer(None), None),
        (Answer(b"<html>login</html>"), None),
        (Answer(b'{"data": {"A": [['), None),
        (json_answer({"message": "unauthorized"}, 401), None),
        (json_answer({"message": "forbidden"}, 403), None),
        (json_answer({"message": "slow down"}, 429), None),
        (window(), json_answer({"results": [{"dimensions": {}}]})),
        (window(), json_answer({"results": [{"id": 7}]})),
        (window(), json_answer({"count": 0})),
        (window(), json_answer({"message": "no"}, 400)),
    ],
)
def test_a_bad_answer_is_an_error_that_names_the_source(
    points: Answer, metadata: Answer | None, token: dict[str, str]
) -> None:
    """Never a sample with holes."""
    with signalfx(serving(points, metadata), token) as (provider, server), pytest.raises(MetricsError) as caught:
        provider.sample(NODES, now=NOW, with_pods=False)
    assert str(caught.value).startswith(f"SignalFx at {server.address}: ")
    assert TOKEN not in str(caught.value)
