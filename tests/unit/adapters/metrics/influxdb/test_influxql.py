"""InfluxQL: what is asked, and what is made of good and bad answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rescheduler.adapters.metrics.influxdb.influxql import newest_statement, regular_statement, slashed
from rescheduler.adapters.metrics.influxdb.series import SeriesSelection, Span
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK
from tests.builders import NOW, node
from tests.loopback_server import Answer, Request, json_answer
from tests.unit.adapters.metrics.influx_answers import about, influxdb, row, rows

N1 = node("n1")
AT = int(NOW * 1000)


def serving(cpu: Answer) -> Callable[[Request], Answer]:
    """Answers with this for cpu, and with memory that is well."""

    def answer(request: Request) -> Answer:
        if about(request, "cpu"):
            return cpu
        return rows(row([[AT, 50.0]], host="n1")) if about(request, "mem") else rows()

    return answer


def test_names_and_texts_are_quoted() -> None:
    """A quote in a name ends nothing."""
    wanted = SeriesSelection('c"pu\\', ("idle",), ('h"ost',), {"a'b": "it's \\"})
    assert newest_statement(wanted, Span(1, 2)) == (
        'SELECT last("idle") AS "value" FROM "c\\"pu\\\\" WHERE time >= 1ms AND time < 2ms '
        'AND "a\'b" = \'it\\\'s \\\\\' GROUP BY "h\\"ost"'
    )


def test_rates_are_taken_by_device_before_the_newest_is() -> None:
    """Counters of one device are added; the excluded devices are left out by the server."""
    wanted = SeriesSelection("net", ("in", "out"), ("host", "nic"), {}, ("nic", "^lo$"), is_counter=True)
    assert newest_statement(wanted, Span(1, 2)) == (
        'SELECT last("rate") AS "value" FROM (SELECT non_negative_derivative("in", 1s) + '
        'non_negative_derivative("out", 1s) AS "rate" FROM "net" WHERE time >= 1ms AND time < 2ms '
        'AND "nic" !~ /^lo$/ GROUP BY "host", "nic") GROUP BY "host", "nic"'
    )


def test_steps_begin_with_the_span() -> None:
    """Whatever the time of day."""
    statement = regular_statement(SeriesSelection("m", ("f",), ("host",)), Span(70_000, 130_000), 60_000)
    assert "GROUP BY time(60000ms, 10000ms)" in statement
    assert statement.endswith("fill(none)")


@pytest.mark.parametrize(
    ("pattern", "literal"), [("a/b", r"/a\/b/"), (r"a\/b", r"/a\/b/"), (r"a\\/b", r"/a\\\/b/"), ("", "//")]
)
def test_a_pattern_cannot_end_its_own_literal(pattern: str, literal: str) -> None:
    """A slash is escaped once, however it was written."""
    assert slashed(pattern) == literal


def test_queries_are_posted_to_the_database() -> None:
    """In a form, with milliseconds; nothing stands in the URL."""
    with influxdb(lambda _: rows(), database="tele", retentionPolicy="short") as (provider, server):
        provider.sample([N1], now=NOW, with_pods=False)
    assert {request.path for request in server.requests} == {"/query"}
    form = server.requests[0].form
    assert (form["db"], form["rp"], form["epoch"]) == ("tele", "short", "ms")


def test_a_token_of_version_2_or_3(tmp_path: object) -> None:
    """Sent as their compatible endpoints want it."""
    file = tmp_path / "token"  # type: ignore[operator]
    file.write_text("s3cret-token\n")
    with influxdb(lambda _: rows(), token={"file": str(file)}) as (provider, server):
        provider.sample([N1], now=NOW, with_pods=False)
    assert {request.headers["authorization"] for request in server.requests} == {"Token s3cret-token"}


@pytest.mark.parametrize("value", ["NaN", "12", True, [1], {"a": 1}])
def test_a_value_that_is_no_number_makes_the_node_unusable(value: object) -> None:
    """Told with the host; the other node is untouched."""
    cpu = rows(row([[AT, value]], host="n1"), row([[AT, 75.0]], host="n2"))
    with influxdb(serving(cpu)) as (provider, _):
        found = provider.sample([N1, node("n2")], now=NOW, with_pods=False)
    assert set(found.unusable) == {"n1"}
    assert np.isnan(found.nodes.values[MEMORY][0, 0])
    assert found.nodes.values[CPU][0, 1] == pytest.approx(0.25)


def test_null_is_no_value() -> None:
    """Unknown, and nobody's fault."""
    with influxdb(serving(rows(row([[AT, None]], host="n1")))) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=False)
    assert np.isnan(found.nodes.values[CPU][0, 0])
    assert found.nodes.values[MEMORY][0, 0] == 0.5
    assert found.unusable == {}


def test_values_that_cannot_be_are_passed_on() -> None:
    """An idle share that wrapped round is for the analyser to judge."""
    with influxdb(serving(rows(row([[AT, 18446744073709551591]], host="n1")))) as (provider, _):
        assert provider.sample([N1], now=NOW, with_pods=False).nodes.values[CPU][0, 0] < -1e17


@pytest.mark.parametrize(
    "cpu",
    [
        json_answer({"results": [{"error": "database not found: telegraf"}]}),
        json_answer({"error": "error parsing query"}, 400),
        json_answer({"results": []}),
        json_answer({"results": [{"series": [{"columns": ["time"], "values": [[AT]]}]}]}),
        json_answer({"results": [{"series": [{"columns": ["time", "value"], "values": [[AT]]}]}]}),
        json_answer({"results": [{"series": [{"columns": ["time", "value"], "values": [["now", 1]]}]}]}),
        json_answer({"results": [{"series": [{"columns": ["time", "value"], "values": {"a": 1}}]}]}),
        json_answer({"results": [{"series": [{"columns": "time", "values": []}]}]}),
        json_answer({"results": [7]}),
        json_answer({"results": None}),
        json_answer([]),
        json_answer("ok"),
        Answer(b'{"results": [{"series": ['),
        Answer(b"<html>502</html>"),
        Answer(b"\xff\xfe"),
        Answer(b""),
        json_answer({"error": "authorization failed"}, 401),
        json_answer({"message": "forbidden"}, 403),
        json_answer({"error": "too many requests"}, 429),
    ],
)
def test_a_bad_answer_is_an_error_that_names_the_source(cpu: Answer) -> None:
    """Never a sample with holes."""
    with influxdb(serving(cpu)) as (provider, server), pytest.raises(MetricsError) as caught:
        provider.sample([N1], now=NOW, with_pods=False)
    assert str(caught.value).startswith(f"InfluxDB at {server.address}: ")


def test_a_host_without_name_is_nobody() -> None:
    """Series without the tag, or with an empty or null one, are passed over."""
    nameless = [row([[AT, 1.0]]), row([[AT, 1.0]], host=""), {**row([[AT, 1.0]]), "tags": {"host": None}}]
    with influxdb(serving(rows(*nameless))) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=False)
    assert np.isnan(found.nodes.values[CPU][0, 0])
    assert found.nodes.values[MEMORY][0, 0] == 0.5


def test_what_the_server_says_is_told() -> None:
    """Messages become warnings, a cut answer a partial sample."""
    said = {"messages": [{"level": "warning", "text": "deprecated use of \x1b[31m"}], "partial": True}
    with influxdb(serving(rows(row([[AT, 1.0]], host="n1"), **said))) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=False)
    assert found.is_partial
    assert any("deprecated" in warning and "\x1b" not in warning for warning in found.warnings)


def test_without_network_or_disk_the_rest_is_there() -> None:
    """Refused queries of optional metrics are warnings; the sample is whole as to cpu and memory."""

    def answer(request: Request) -> Answer:
        is_optional = "net" in request.form["q"] or "diskio" in request.form["q"]
        return json_answer({"error": "no"}, 400) if is_optional else rows(row([[AT, 50.0]], host="n1"))

    with influxdb(answer) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=False)
    assert found.nodes.values[CPU][0, 0] == 0.5
    assert np.isnan([found.nodes.values[NETWORK][0, 0], found.nodes.values[DISK][0, 0]]).all()
    assert not found.is_partial
    assert sum("is left out" in warning for warning in found.warnings) == 2


def test_pods_that_cannot_be_read_are_not_there() -> None:
    """None, rather than some."""

    def answer(request: Request) -> Answer:
        if about(request, "kubernetes_pod_container"):
            return rows(row([[AT, 1.0]], namespace="a", pod_name="b", container_name="c"), partial=True)
        return rows()

    with influxdb(answer) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=True)
    assert found.pods is None
    assert any("pods" in warning for warning in found.warnings)


def test_a_history_is_asked_for_in_pieces_that_an_answer_can_hold() -> None:
    """Many nodes over many steps are several queries, and one series of times."""
    nodes = [node(f"n{at}") for at in range(5000)]

    def answer(request: Request) -> Answer:
        return rows(row([[AT - 15_000, 20.0]], host="n1")) if about(request, "mem") else rows()

    with influxdb(answer) as (provider, server):
        found = provider.history(nodes, start=NOW - 900, end=NOW, step_seconds=15)
    assert found is not None
    assert len(found.times) == 61
    assert sum(about(request, "mem") for request in server.requests) == 7
    assert not any(about(request, "net") for request in server.requests)
    assert found.values[MEMORY][-1, 1] == pytest.approx(0.2)


def test_a_history_without_rates_is_a_history() -> None:
    """Where the server gives none of network or disk, cpu and memory are there."""

    def answer(request: Request) -> Answer:
        is_rate = "non_negative_derivative" in request.form["q"]
        return json_answer({"error": "timeout"}, 500) if is_rate else rows(row([[AT - 15_000, 20.0]], host="n1"))

    with influxdb(answer) as (provider, server):
        found = provider.history([N1], start=NOW - 60, end=NOW, step_seconds=15)
    assert found is not None
    assert found.values[CPU][-1, 0] == pytest.approx(0.8)
    assert sum(about(request, "net") for request in server.requests) == 1
    assert np.isnan(found.values[NETWORK]).all()


def test_too_long_a_history_is_an_error_not_a_flood() -> None:
    """Nobody is asked."""
    with influxdb(lambda _: rows()) as (provider, server), pytest.raises(MetricsError, match="times"):
        provider.history([N1], start=0, end=NOW, step_seconds=1)
    assert server.requests == []


def test_nothing_to_ask_for_is_no_history() -> None:
    """No node, or an end before the start."""
    with influxdb(lambda _: rows()) as (provider, server):
        assert provider.history([], start=NOW - 60, end=NOW, step_seconds=15) is None
        assert provider.history([N1], start=NOW, end=NOW - 60, step_seconds=15) is None
    assert server.requests == []
