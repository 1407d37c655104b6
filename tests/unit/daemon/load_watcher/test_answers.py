"""What of a record is told to others, and in which form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.load_watcher.answers import compose, window_of
from rescheduler.daemon.load_watcher.load_document import plain_number
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.model.usage.load_report import read_load_report
from rescheduler.model.usage.trust import Trust, TrustState
from tests.unit.daemon.api.records import NAN, NOW, TRUSTED, pods_using, record
from tests.unit.daemon.api.stock_client import decode


def shown(known: Record, window: float = 900.0, **form: Any) -> Any:
    """The document as plain data."""
    found = compose(known, window, **form)
    return None if found is None else json.loads(msgspec.json.encode(found))


def metrics_of(known: Record, node: str, **form: Any) -> list[tuple[str, str, float]]:
    """Type, operator and value of a node's metrics, in their order."""
    found = shown(known, **form)["data"]["NodeMetricsMap"][node]["metrics"]
    return [(one["type"], one["operator"], one["value"]) for one in found]


def test_every_key_of_the_original_is_there() -> None:
    """Those without a value hold an empty text or object; times are whole seconds."""
    assert shown(record({"n1": {"average": 20.0, "deviation": 5.0}}, at=NOW + 0.9)) == {
        "timestamp": 1_800_000_000,
        "window": {"duration": "15m", "start": 1_799_999_100, "end": 1_800_000_000},
        "source": "Prometheus",
        "data": {
            "NodeMetricsMap": {
                "n1": {
                    "metrics": [
                        {"name": kind, "type": type_, "operator": operator, "rollup": "15m", "value": value}
                        for kind, type_ in (("cpu", "CPU"), ("memory", "Memory"))
                        for operator, value in (("AVG", 20.0), ("STD", 5.0))
                    ],
                    "tags": {},
                    "metadata": {"dataCenter": ""},
                }
            }
        },
    }


def test_the_latest_value_stands_in_where_there_is_no_average() -> None:
    """As the original gives metrics-server's; where there is an average, clients must not find another value."""
    known = record({"one": {"latest": 30.0}, "both": {"average": 10.0, "deviation": 1.0, "latest": 30.0}})
    assert metrics_of(known, "one") == [("CPU", "Latest", 30.0), ("Memory", "Latest", 30.0)]
    assert metrics_of(known, "both")[:2] == [("CPU", "AVG", 10.0), ("CPU", "STD", 1.0)]


def test_all_statistics_come_before_the_average() -> None:
    """A stock client that asks for them takes the last of AVG and Latest, so the average stands after the latest."""
    row = {"average": 10.0, "deviation": 1.0, "latest": 30.0, "maximum": 40.0, "minimum": 5.0}
    found = metrics_of(record({"n": row}), "n", has_all=True)[:5]
    assert [operator for _, operator, _ in found] == ["Latest", "MAX", "MIN", "AVG", "STD"]
    report = decode(200, msgspec.json.encode(compose(record({"n": row}), 900.0, has_all=True)))
    assert report.cpu_of("n") == 10.0
    assert report.risk_inputs("n", "CPU") == (10.0, 1.0)


@pytest.mark.parametrize("state", list(TrustState))
def test_only_believed_nodes_are_told(state: TrustState) -> None:
    """Others would go by what we ourselves do not believe; a node that a move of ours touched is measured well."""
    names = shown(record(trust={"n2": Trust(state, "why")}))["data"]["NodeMetricsMap"]
    is_told = state in (TrustState.TRUSTED, TrustState.PREDICTED, TrustState.SETTLING)
    assert set(names) == ({"n1", "n2"} if is_told else {"n1"})


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf, -0.5])
def test_what_no_load_can_be_is_left_out(value: float) -> None:
    """A value that JSON or a client could not read never stands in the document; missing is never 0."""
    known = record({"n": {"average": value, "deviation": 1.0}})
    assert [operator for _, operator, _ in metrics_of(known, "n")] == ["STD", "STD"]


def test_nothing_to_tell_is_no_document() -> None:
    """No values, no trust, an old window, an unknown node."""
    assert shown(record({"n": {}})) is None
    assert shown(record(), node="n3") is None
    assert shown(record(trust={"n1": Trust(TrustState.STALE)}), node="n1") is None
    for known in (record({}), record(end=NOW - 301), record(end=NAN)):
        assert window_of(known, None) is None


def test_one_node_is_told_alone() -> None:
    """With its own end of the window."""
    found = shown(record(end=[NOW - 50, NOW]), node="n1")
    assert list(found["data"]["NodeMetricsMap"]) == ["n1"]
    assert found["window"]["end"] == NOW - 50


@pytest.mark.parametrize(("ends", "end"), [((0, 0), 0), ((-20, 0), -20), ((-250, 0), -60), ((-250, -240), -250)])
def test_the_window_ends_with_the_earliest_but_not_long_before_the_latest(ends: tuple[int, int], end: int) -> None:
    """Pods bound after a node's last sample must look missing from its load, without one straggler deciding for all."""
    known = record(end=[NOW + ends[0], NOW + ends[1]])
    window = shown(known)["window"]
    assert (window["end"] - NOW, window["end"] - window["start"]) == (end, 900)


@pytest.mark.parametrize(
    ("kept", "asked", "found"),
    [
        ((300, 600, 900), None, 900),
        ((300, 600), None, 600),
        ((300,), None, 300),
        ((300, 600, 900), 300, 300),
        ((300, 900), 600, 300),
        ((900,), 600, None),
        ((), None, None),
        ((120, 480, 3600), None, 480),
        ((3600, 7200), None, 3600),
        ((300, 3600), 3600, 3600),
        ((300, 3600), 7200, None),
        ((120,), 300, None),
    ],
)
def test_the_window_falls_from_15_to_10_to_5_minutes(
    kept: tuple[int, ...], asked: int | None, found: int | None
) -> None:
    """Other lengths are given only to those who ask for them, or where there is nothing else."""
    assert window_of(record(windows=[float(one) for one in kept]), None if asked is None else float(asked)) == found


@pytest.mark.parametrize(
    ("source", "told"),
    [("Prometheus", "Prometheus"), ("MetricsServer", "KubernetesMetricsServer"), ("SignalFx", "SignalFx"),
     ("Datadog", "Datadog"), ("InfluxDB", "InfluxDB")],
)  # fmt: skip
def test_sources_bear_the_names_that_clients_know(source: str, told: str) -> None:
    """Where the original has one."""
    assert shown(record(source=source))["source"] == told


def test_pods_are_added_on_request_for_nodes_that_are_told() -> None:
    """In percent of their node's capacity, as our own reader takes them."""
    pods = pods_using(
        ("a", "n1", 500.0, 2.0**30), ("b", "n2", 1.0, 1.0), ("c", None, 1.0, 1.0), ("d", "n1", NAN, NAN),
        ("e", "n1", NAN, 2.0**31), ("f", "gone", 1.0, 1.0),
    )  # fmt: skip
    known = record(trust={"n2": Trust(TrustState.FROZEN)}, **pods)
    assert "PodMetricsMap" not in shown(known)["data"]
    report = read_load_report(shown(known, has_pods=True))
    assert {name: [tuple(one) for one in found] for name, found in report.pods.items()} == {
        "default/a": [("CPU", "AVG", 12.5), ("Memory", "AVG", 6.25)],
        "default/e": [("Memory", "AVG", 12.5)],
    }


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_never_have_an_exponent_and_lose_nothing(value: float) -> None:
    """Every float is written in full, and read back as itself."""
    text = msgspec.json.encode(plain_number(value))
    assert b"e" not in text.lower()
    assert float(text) == value


@given(rows=st.lists(st.fixed_dictionaries({"average": st.floats(), "deviation": st.floats(), "latest": st.floats()})))
def test_any_record_makes_a_document_that_a_stock_client_reads(rows: list[dict[str, float]]) -> None:
    """Whatever the values: valid JSON, every key, and as our own reader reads it."""
    known = record({f"n{place}": row for place, row in enumerate(rows)})
    document = compose(known, 900.0, has_all=True) if known.windows else None
    if document is None:
        return
    body = msgspec.json.encode(document)
    stock, ours = decode(200, body), read_load_report(json.loads(body))
    assert set(stock.nodes) == set(ours.nodes) <= set(known.nodes)
    for name, row in zip(known.nodes, rows, strict=True):
        if math.isfinite(row["average"]) and row["average"] >= 0:
            assert stock.cpu_of(name) == row["average"]


def filled(**by_window: Mapping[str, Any]) -> list[str]:
    """Windows that are filled, of those given as ``m5={...}``."""
    windows = {float(name[1:]) * 60: changes for name, changes in by_window.items()}
    return [f"m{seconds / 60:g}" for seconds in record(windows=windows).windows]


def counted(count: float) -> dict[str, Any]:
    """A window that holds so many samples of each node."""
    return {"rows": [{"average": 1.0, "count": count}] * 2}


def test_a_window_that_holds_no_more_than_a_shorter_one_is_not_filled() -> None:
    """After six minutes without history, a quarter of an hour is claimed by nobody."""
    assert filled(m5=counted(20), m10=counted(24), m15=counted(24)) == ["m5", "m10"]
    assert filled(m5=counted(4), m10=counted(4), m15=counted(4)) == ["m5"]
    assert filled(m5=counted(20), m10=counted(20), m15=counted(21)) == ["m5", "m15"]
    assert filled(m5=counted(0), m10=counted(0), m15=counted(9)) == ["m15"]
    assert filled(m5={}, m10={}) == ["m5", "m10"]


def test_a_window_that_is_believed_of_few_nodes_only_is_not_served() -> None:
    """What was found wrong is kept out of a short window for a shorter time: then the short one knows more."""
    half = {"trusts": [TRUSTED, Trust(TrustState.FROZEN)]}
    none = {"trusts": [Trust(TrustState.FROZEN)] * 2}
    assert filled(m5={}, m15=half) == ["m5"]
    assert filled(m5=half, m15=half) == ["m5", "m15"]
    assert filled(m5={"end": [NOW, NAN]}, m15={"end": [NOW, NOW - 200]}) == ["m15"]
    assert filled(m5=none, m15=none) == []


def test_a_predicted_node_is_told_of_only_where_its_pods_look_missing() -> None:
    """Its load is 0 and clients must add its pods: they do so for pods bound after the end of the window only."""
    rows = {"old": {"average": 50.0}, "new": {"average": 0.0}}
    trust = {"new": Trust(TrustState.PREDICTED)}
    for end_of_new, names in ((NOW, ["old", "new"]), (NOW - 40, ["old"]), (NOW - 200, ["old"])):
        known = shown(record(rows, trust=trust, end=[NOW - 30, end_of_new]))
        assert list(known["data"]["NodeMetricsMap"]) == names
        assert known["window"]["end"] == NOW - 30
    alone = shown(record(rows, trust=trust, end=[NAN, NOW - 200]))
    assert (list(alone["data"]["NodeMetricsMap"]), alone["window"]["end"]) == (["new"], NOW - 200)
