"""One instant query as descheduler asks it: a value for each instance, or what is wrong with the answer."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.metrics.prometheus.instant import ask_now, is_answer, read_answer
from rescheduler.model.usage.measured_use import QueryAnswer
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.unit.adapters.metrics.sessions import session_to


def vector(*samples: Any, kind: str = "vector") -> dict[str, Any]:
    """An answer of Prometheus' HTTP API."""
    return {"status": "success", "data": {"resultType": kind, "result": list(samples)}}


def test_the_query_is_sent_as_it_is_and_values_go_by_instance() -> None:
    """In the body, so that it never stands in a log of addresses."""
    asked: list[Request] = []

    def answer(request: Request) -> Answer:
        asked.append(request)
        return json_answer(vector({"metric": {"instance": "n1"}, "value": [1, "0.25"]}))

    with loopback_server(answer) as server:
        found = ask_now(session_to(server.address), "instance:node_cpu:rate:sum")
    assert found == QueryAnswer({"n1": 0.25})
    assert [(request.route, request.form["query"]) for request in asked] == [
        ("/api/v1/query", "instance:node_cpu:rate:sum")
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (vector(kind="matrix"), "'matrix'; wanted a vector"),
        (vector({"metric": {"node": "n1"}, "value": [1, "0.2"]}), "has no label instance"),
        (vector({"metric": {"instance": "n1"}, "value": [1, "much"]}), "a sample of Prometheus' answer is"),
        (vector("nonsense"), "a sample of Prometheus' answer is"),
        ({"status": "error"}, "wanted a vector"),
        ([], "wanted a vector"),
    ],
)
def test_what_is_no_vector_by_instance_is_said(document: Any, said: str) -> None:
    """No value of it is used."""
    found = read_answer(document)
    assert said in found.problem
    assert found.values == {}


def test_a_server_that_fails_is_a_problem_of_the_answer() -> None:
    """The plugin that asked tells of it."""
    with loopback_server(lambda _: Answer(b"no", 503)) as server:
        assert "503" in ask_now(session_to(server.address), "q").problem


def test_a_recording_of_load_is_no_answer() -> None:
    """``--usage`` holds either."""
    assert is_answer(vector())
    assert not is_answer({"data": {"NodeMetricsMap": {}}})
