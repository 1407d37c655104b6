"""Flux: what is asked of InfluxDB 2, and what is made of its CSV."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK
from tests.builders import NOW, node
from tests.loopback_server import Answer, Request, json_answer
from tests.unit.adapters.metrics.influx_answers import influxdb

N1 = node("n1")
BUCKET = {"org": "ours", "bucket": "telegraf"}
TIME = "2027-01-15T08:00:00Z"  # NOW


def csv(*lines: str) -> Answer:
    """An answer of these lines, as InfluxDB ends them."""
    return Answer("\r\n".join([*lines, "", ""]).encode(), headers={"Content-Type": "text/csv"})


def query(request: Request) -> str:
    """The Flux of a request."""
    return str(msgspec.json.decode(request.body)["query"])


def serving(cpu: Answer) -> Callable[[Request], Answer]:
    """Answers with this for cpu, and with memory that is well."""

    def answer(request: Request) -> Answer:
        if '"usage_idle"' in query(request):
            return cpu
        if '"used_percent"' in query(request):
            return csv(",result,table,_time,_value,_field,host", f",_result,0,{TIME},50,used_percent,n1")
        return csv("")

    return answer


def test_a_sample_of_hosts() -> None:
    """Several tables, of which a later one has its own header; times to the nanosecond; quoted commas."""
    cpu = csv(
        ",result,table,_time,_value,_field,host",
        ",_result,0,2027-01-15T07:59:59.123456789Z,75,usage_idle,n1",
        "",
        ",result,table,host,_field,_value,_time",
        f',_result,1,"n2,x",usage_idle,10,{TIME}',
    )
    with influxdb(serving(cpu), **BUCKET) as (provider, server):
        found = provider.sample([N1], now=NOW, with_pods=False)
    assert found.nodes.values[CPU][0, 0] == pytest.approx(0.25)
    assert found.nodes.values[MEMORY][0, 0] == pytest.approx(0.5)
    assert found.nodes.measured_at[0, 0] == pytest.approx(NOW - 0.876544, abs=1e-3)
    assert {(request.route, request.query["org"]) for request in server.requests} == {("/api/v2/query", "ours")}


def test_names_are_quoted() -> None:
    """Neither a quote nor a string's own placeholders end or open anything."""
    cpu = {"measurement": 'c" |> drop()', "field": "f", "tags": {"t": "${now()}\\"}}
    with influxdb(serving(csv("")), cpu=cpu, **BUCKET) as (provider, server):
        provider.sample([N1], now=NOW, with_pods=False)
    text = query(server.requests[0])
    assert 'r["_measurement"] == "c\\" |> drop()"' in text
    assert 'r["t"] == "\\${now()}\\\\"' in text


def test_rates_of_devices() -> None:
    """Received and sent of all interfaces together, the busiest disk; one series of a device counts once."""

    def answer(request: Request) -> Answer:
        text = query(request)
        if '"bytes_recv"' in text:
            assert "derivative(unit: 1s, nonNegative: true)" in text
            return csv(
                ",result,table,_time,_value,_field,host,interface",
                f",_result,0,{TIME},100,bytes_recv,n1,eth0",
                f",_result,1,{TIME},50,bytes_sent,n1,eth0",
                f",_result,2,{TIME},7,bytes_recv,n1,eth1",
                ",_result,3,2027-01-15T07:59:00Z,900,bytes_recv,n1,eth1",
            )
        if '"io_time"' in text:
            return csv(
                ",result,table,_time,_value,_field,host,name",
                f",_result,0,{TIME},250,io_time,n1,sda",
                f",_result,1,{TIME},600,io_time,n1,sdb",
            )
        return csv("")

    with influxdb(answer, **BUCKET) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=False).nodes
    assert found.values[NETWORK][0, 0] == pytest.approx(157)
    assert found.values[DISK][0, 0] == pytest.approx(0.6)


def test_a_history_is_aggregated_by_steps() -> None:
    """Points carry the end of their step."""
    cpu = csv(
        ",result,table,_time,_value,_field,host",
        ",_result,0,2027-01-15T07:59:00Z,80,usage_idle,n1",
        ",_result,0,2027-01-15T08:00:00Z,60,usage_idle,n1",
    )
    with influxdb(serving(cpu), **BUCKET) as (provider, server):
        found = provider.history([N1], start=NOW - 60, end=NOW, step_seconds=60)
    assert found is not None
    assert found.values[CPU][:, 0] == pytest.approx([0.2, 0.4])
    assert "aggregateWindow(every: 60000ms, offset: 0ms, fn: mean, createEmpty: false)" in query(server.requests[0])


@pytest.mark.parametrize("value", ["NaN", "abc", "+Inf"])
def test_a_value_that_is_no_number_makes_the_node_unusable(value: str) -> None:
    """As in InfluxQL; an empty one is none at all."""
    header = ",result,table,_time,_value,_field,host"
    with influxdb(serving(csv(header, f",_result,0,{TIME},{value},usage_idle,n1")), **BUCKET) as (provider, _):
        assert set(provider.sample([N1], now=NOW, with_pods=False).unusable) == {"n1"}
    with influxdb(serving(csv(header, f",_result,0,{TIME},,usage_idle,n1")), **BUCKET) as (provider, _):
        found = provider.sample([N1], now=NOW, with_pods=False)
    assert found.unusable == {}
    assert np.isnan(found.nodes.values[CPU]).all()


@pytest.mark.parametrize(
    "cpu",
    [
        csv("error,reference", '"failed to initialize execute state: could not find bucket",897'),
        csv(",result,table,host", ",_result,0,n1"),
        csv(",result,table,_time,_value,_field,host", ",_result,0"),
        csv(",result,table,_time,_value,_field,host", ",_result,0,yesterday,1,usage_idle,n1"),
        csv(",result,table,_time,_value,_field,host", ",_result,0,2027-01-15T08:00:00,1,usage_idle,n1"),
        csv(",result,table,_time,_value,_field,host", f',_result,0,{TIME},1,usage_idle,"n1'),
        Answer(b"<html>Sign in</html>"),
        Answer(b"\xff\xfe\x00"),
        json_answer({"code": "unauthorized", "message": "unauthorized access"}, 401),
        json_answer({"code": "not found", "message": 'organization name "ours" not found'}, 404),
    ],
)
def test_a_bad_answer_is_an_error_that_names_the_source(cpu: Answer) -> None:
    """Never a sample with holes."""
    with influxdb(serving(cpu), **BUCKET) as (provider, server), pytest.raises(MetricsError) as caught:
        provider.sample([N1], now=NOW, with_pods=False)
    assert str(caught.value).startswith(f"InfluxDB at {server.address}: ")
