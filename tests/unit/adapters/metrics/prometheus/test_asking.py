"""Own PromQL: asked for as it is, checked, never silently replaced; pods by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW
from tests.loopback_server import Answer, json_answer, loopback_server
from tests.unit.adapters.metrics.prometheus_answers import BOTH, NODES, Known, answering, provider_at, sampled

OWN = {"nodeCpu": {"query": "my_cpu", "time": "my_time"}}


def test_own_queries() -> None:
    """Asked for as they are, with their own time; matchers are only added to ours."""
    known = {"my_cpu": Known({"n1": "0.1", "n2": "0.2"}), "my_time": Known({"n1": str(NOW - 7), "n2": str(NOW)})}
    found, requests = sampled(known, queries=OWN, matchers={"cluster": 'a"b\\'})
    assert found.nodes.values[CPU].tolist() == [[0.1, 0.2]]
    assert found.nodes.measured_at.tolist() == [[NOW - 7, NOW]]
    ours = {request.form["query"] for request in requests} - {"my_cpu", "my_time"}
    assert ours
    assert all(r'cluster="a\"b\\"' in query for query in ours)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Known({"x": "1"}, {"instance": "", "zone": "z"}), None),
        (Answer(b'{"error": "parse error: unexpected"}', 400), "parse error"),
        (json_answer({"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}),
         "answered 'scalar' to the query my_cpu, wanted a vector"),
        (json_answer({"status": "success", "data": {"resultType": "vector", "result": [
            {"metric": {"zone": "z"}, "value": [1, "2"]}]}}),
         "queries.nodeCpu gives series with the labels: zone; wanted one of node, nodename.*, or set hostLabel"),
        (json_answer({"status": "error", "error": "x"}), "no answer to a query"),
    ],
)  # fmt: skip
def test_own_queries_that_cannot_be_used_are_errors(answer: Any, said: str | None) -> None:
    """Unlike ours, no other way is tried: the operator must hear of it."""
    if said is None:
        sampled({"my_cpu": answer}, queries=OWN)
        return
    with pytest.raises(MetricsError, match=said):
        sampled({"my_cpu": answer}, queries=OWN)


def test_pods_that_contradict_themselves_are_unknown() -> None:
    """One pod's trouble is not another's."""
    own = {"podCpu": {"query": "cpu", "time": "at"}, "podMemory": {"query": "mem", "time": "at"}}
    pods = [{"namespace": "a", "pod": "p"}, {"namespace": "a", "pod": "q"}, {"namespace": "a"}]

    def vector(*values: str) -> Answer:
        result = [
            {"metric": {**labels, "extra": str(number)}, "value": [NOW, value]}
            for number, (labels, value) in enumerate(zip((pods[0], *pods), values, strict=True))
        ]
        return json_answer({"status": "success", "data": {"resultType": "vector", "result": result}})

    known = BOTH | {"cpu": vector("1", "2", "0.5", "9"), "mem": vector("7", "7", "8", "9")}
    known |= {"at": vector(*[str(NOW - 3)] * 4)}
    with loopback_server(answering(known)) as server:
        found = provider_at(server.address, queries=own).sample(NODES, now=NOW, with_pods=True).pods
    assert found is not None
    assert [pod.name for pod in found.pods] == ["p", "q"]
    assert np.isnan(found.values[CPU][0])
    assert found.values[CPU][1] == 500.0
    assert found.values[MEMORY].tolist() == [7.0, 8.0]
    assert found.measured_at.tolist() == [NOW - 3, NOW - 3]


def test_pods_that_fail_leave_the_nodes() -> None:
    """With a warning."""
    own = {"podCpu": {"query": "cpu"}}
    with loopback_server(answering(BOTH | {"cpu": Answer(b"{}", 500)})) as server:
        found = provider_at(server.address, queries=own).sample(NODES, now=NOW, with_pods=True)
    assert found.pods is None
    assert found.nodes.values[CPU].tolist() == [[0.25, 0.5]]
    assert any(warning.startswith("pods: ") for warning in found.warnings)
