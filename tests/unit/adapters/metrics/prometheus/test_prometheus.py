"""PrometheusProvider: what it asks, what it makes of odd answers; tests/metrics asks real servers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW, node
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.unit.adapters.metrics.prometheus_answers import BOTH, NODES, Known, answering, provider_at, rules, sampled


def test_queries_stand_in_the_body() -> None:
    """URLs end up in logs and are cut by proxies; the server is told how long we wait."""
    found, requests = sampled(BOTH)
    assert found.nodes.values[CPU].tolist() == [[0.25, 0.5]]
    assert {request.method for request in requests} == {"POST"}
    assert {request.path for request in requests} == {"/api/v1/query"}
    assert {request.form["timeout"] for request in requests} == {"2000ms"}


def test_the_number_of_queries_does_not_grow_with_the_cluster() -> None:
    """No query for each node, no node's name in a query; what was found by probing is kept."""
    known = rules({f"n{number}:9100": "0.25" for number in range(300)})
    with loopback_server(answering(known)) as server:
        provider = provider_at(server.address)
        for count in (2, 300):
            provider.sample([node(f"n{number}") for number in range(count)], now=NOW, with_pods=False)
        first = len(server.requests)
        provider.sample([node(f"n{number}") for number in range(300)], now=NOW + 15, with_pods=False)
        assert len(server.requests) - first <= 12
        assert all(len(request.form["query"]) < 400 for request in server.requests)


def test_the_oldest_of_rule_and_exporter_counts() -> None:
    """A rule goes on over rates of an exporter that has been gone for minutes."""
    known = rules({"n1": "0.25", "n2": "0.5"}) | {
        "timestamp(node_memory_MemTotal_bytes)": Known({"n1": str(NOW - 240), "n2": str(NOW + 5)})
    }
    found, _ = sampled(known)
    assert found.nodes.measured_at.tolist() == [[NOW - 240, NOW]]


def test_a_node_whose_exporter_has_ended_is_unknown() -> None:
    """Its rule may still give a number for minutes."""
    known = rules({"n1": "0.25", "n2": "0.5"}) | {"timestamp(node_memory_MemTotal_bytes)": Known({"n2": str(NOW)})}
    found, _ = sampled(known)
    assert np.isnan(found.nodes.values[CPU][0, 0])
    assert found.nodes.values[CPU][0, 1] == 0.5


@pytest.mark.parametrize(
    ("envelope", "is_partial", "said"),
    [
        ({}, False, ()),
        ({"warnings": ["store 2 is gone"]}, True, ("store 2 is gone",)),
        ({"warnings": ["\x1b[31mred"]}, True, ("\\x1b[31mred",)),
        (
            {"infos": ["PromQL info: metric might not be a counter"]},
            False,
            ("PromQL info: metric might not be a counter",),
        ),
        ({"warnings": ["PromQL warning: mixed histograms"]}, False, ("PromQL warning: mixed histograms",)),
        ({"isPartial": True}, True, ("the answer is partial",)),
        ({"isPartial": False, "warnings": None}, False, ()),
    ],
)
def test_what_the_source_says_of_its_answer_is_kept(envelope: Any, is_partial: bool, said: tuple[str, ...]) -> None:
    """A partial answer is told from a remark on the query; each is said once, though many queries got it."""
    found, _ = sampled(BOTH, envelope)
    assert (found.is_partial, found.warnings) == (is_partial, said)


def test_an_old_warning_is_not_said_again() -> None:
    """Each sample has its own."""
    envelope: dict[str, Any] = {"warnings": ["store 2 is gone"]}

    def answer(request: Request) -> Answer:
        return answering(BOTH, **envelope)(request)

    with loopback_server(answer) as server:
        provider = provider_at(server.address)
        assert provider.sample(NODES, now=NOW, with_pods=False).is_partial
        envelope.clear()
        later = provider.sample(NODES, now=NOW, with_pods=False)
    assert (later.is_partial, later.warnings) == (False, ())


def test_an_empty_cluster_teaches_nothing() -> None:
    """Nodes that come later are looked for in every way."""
    known = {
        "instance:node_cpu_utilisation:rate5m": Known({"n1": "0.75", "n2": "0.75"}),
        "timestamp(instance:node_cpu_utilisation:rate5m)": Known({"n1": str(NOW), "n2": str(NOW)}),
    }
    with loopback_server(answering(known)) as server:
        provider = provider_at(server.address)
        assert provider.sample([], now=NOW, with_pods=False).nodes.nodes == ()
        found = provider.sample(NODES, now=NOW + 1, with_pods=False)
    assert found.nodes.values[CPU].tolist() == [[0.75, 0.75]]


def test_a_query_that_the_server_refuses_is_passed_over() -> None:
    """Another way may do; the refusal is told."""
    known = (
        BOTH
        | {"instance:node_cpu:ratio": Answer(b'{"error": "too many samples"}', 422)}
        | {
            "instance:node_cpu_utilisation:rate5m": Known({"n1": "0.75", "n2": "0.75"}),
            "timestamp(instance:node_cpu_utilisation:rate5m)": Known({"n1": str(NOW), "n2": str(NOW)}),
        }
    )
    found, _ = sampled(known)
    assert found.nodes.values[CPU].tolist() == [[0.75, 0.75]]
    assert "too many samples" in found.warnings[0]


def test_a_server_that_refuses_everything_is_an_error() -> None:
    """Not a cluster without load."""
    with loopback_server(lambda _: Answer(b'{"error": "no org id"}', 400)) as server:
        provider = provider_at(server.address)
        with pytest.raises(MetricsError, match=r"answers no query for nodes; it says .*no org id"):
            provider.sample(NODES, now=NOW, with_pods=False)


def test_the_way_that_covers_most_is_taken_and_the_gap_is_told() -> None:
    """With the hosts that are no node, which mostly explain it."""
    known = rules({"n1": "0.25", "10.1.1.1:9100": "0.5"})
    found, _ = sampled(known)
    assert found.nodes.values[CPU][0, 0] == 0.25
    wanted = "cpu: instance:node_cpu:ratio covers 1 of 2 nodes; hosts that are no node here: 10.1.1.1:9100"
    assert wanted in found.warnings


def test_node_names_behind_pod_addresses_are_looked_up() -> None:
    """node_uname_info joins what the labels do not say; two names for one instance are none."""
    known = rules({"10.1.1.1:9100": "0.25", "10.1.1.2:9100": "0.5"})
    uname = [
        {"metric": {"instance": f"10.1.1.{number}:9100", "nodename": f"n{number}"}, "value": [NOW, "1"]}
        for number in (1, 2)
    ]
    answers = answering(known)

    def answer(request: Any) -> Answer:
        if request.form["query"] != "node_uname_info":
            return answers(request)
        return json_answer({"status": "success", "data": {"resultType": "vector", "result": uname}})

    with loopback_server(answer) as server:
        provider = provider_at(server.address)
        assert provider.sample(NODES, now=NOW, with_pods=False).nodes.values[CPU].tolist() == [[0.25, 0.5]]
        uname.append({"metric": {"instance": "10.1.1.1:9100", "nodename": "n2"}, "value": [NOW, "1"]})
        second = provider.sample(NODES, now=NOW, with_pods=False).nodes.values[CPU]
    assert np.isnan(second[0, 0])
    assert second[0, 1] == 0.5


def test_strangers_that_nobody_knows_are_not_looked_up_at_each_tick() -> None:
    """As where one server watches many clusters, and some of our nodes have no exporter."""
    known = rules({"n1": "0.25", "of-another-cluster": "0.5"})
    with loopback_server(answering(known)) as server:
        provider = provider_at(server.address)
        provider.sample(NODES, now=NOW, with_pods=False)
        first = len(server.requests)
        provider.sample(NODES, now=NOW + 15, with_pods=False)
        assert len(server.requests) - first <= 8
        lookups = [request for request in server.requests if request.form["query"] == "node_uname_info"]
        assert len(lookups) == 1
        provider.sample(NODES, now=NOW + 300, with_pods=False)
        assert [request.form["query"] for request in server.requests].count("node_uname_info") == 2


def test_values_that_are_no_numbers_make_a_node_unusable() -> None:
    """With the reason; what cannot be but is a number is passed on."""
    found, _ = sampled(rules({"n1": "NaN", "n2": "-3.5"}, {"n1": "0.5", "n2": "7"}))
    assert found.unusable == {"n1": "cpu: the source says nan"}
    assert np.isnan(found.nodes.values[MEMORY][0, 0])
    assert (found.nodes.values[CPU][0, 1], found.nodes.values[MEMORY][0, 1]) == (-3.5, 7.0)
