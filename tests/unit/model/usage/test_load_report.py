"""What a load watcher answers, read in both forms."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.usage.load_report import LoadReportError, read_load_report, served_window, unusable_values

WINDOW = {"duration": "15m", "start": 100, "end": 1000}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ("window", "data", "start", "end", "timestamp", "NodeMetricsMap", "metrics", "value", "type", "operator", "n")
    ), inner, max_size=4),
    max_leaves=15,
)  # fmt: skip


def metric(**fields: Any) -> dict[str, Any]:
    """One metric."""
    return {"name": "x", "type": "CPU", "operator": "AVG", "rollup": "15m", "value": 20.5, **fields}


def test_the_present_form() -> None:
    """Nodes stand under their own map; a node may have no metrics."""
    nodes = {"a": {"metrics": [metric()], "tags": {}}, "b": {"metrics": []}}
    report = read_load_report({"timestamp": 1001, "window": WINDOW, "data": {"NodeMetricsMap": nodes}, "new": 1})
    assert report.window_seconds == 900
    assert report.nodes == {"a": (("CPU", "AVG", 20.5),), "b": ()}


def test_the_form_of_the_design() -> None:
    """The statistic is the rollup, types are small letters, values whole, and stray parts are no nodes."""
    old = {"name": "x", "type": "cpu", "rollup": "STD", "value": 5}
    data = {"a": {"metrics": [old], "tags": [{}]}, "metadata": {"pool": "p"}, "tags": [{}]}
    report = read_load_report({"window": WINDOW, "data": data})
    assert report.nodes == {"a": (("cpu", "STD", 5.0),)}
    assert report.timestamp == 1000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"window": None}, "window: found nothing, wanted a mapping"),
        ({"window": {**WINDOW, "end": "soon"}}, "window.end: found 'soon', wanted a number"),
        ({"window": {**WINDOW, "end": 99}}, "window.end: found 99, wanted a time not before window.start"),
        ({"window": {**WINDOW, "end": float("inf")}}, "window.end: found inf"),
        ({"data": []}, r"data: found \[\]"),
        ({"data": {"a": {"metrics": ["x"]}}}, r"data.a.metrics\[0\]: found 'x'"),
        ({"data": {"a": {"metrics": [metric(value=True)]}}}, r"data.a.metrics\[0\].value: found True"),
    ],
)
def test_a_broken_report_is_refused_by_field(change: dict[str, Any], message: str) -> None:
    """The message says what was found where."""
    with pytest.raises(LoadReportError, match=message):
        read_load_report({"timestamp": 1, "window": WINDOW, "data": {}, **change})


@pytest.mark.parametrize("value", [None, "NaN", "-Infinity", float("nan"), float("inf"), -1, 10**400])
def test_a_value_that_is_no_percentage_is_kept_and_told(value: Any) -> None:
    """Absent, undefined, infinite, negative: no fault of the rest of the report, and named with its place."""
    data = {"NodeMetricsMap": {"a": {"metrics": [metric(value=value), metric(type="Memory")]}}, "PodMetricsMap": None}
    (told,) = unusable_values(read_load_report({"window": WINDOW, "data": data}))
    assert told.startswith("NodeMetricsMap a: CPU AVG ")


def test_values_of_other_types_are_not_told_of() -> None:
    """They are not read, whatever they are; a map of nodes may be null."""
    data = {"a": {"metrics": [metric(type="Bandwidth", value=-1), metric()]}}
    assert list(unusable_values(read_load_report({"window": WINDOW, "data": data}))) == []
    assert read_load_report({"window": WINDOW, "data": {"NodeMetricsMap": None}}).nodes == {}


@given(document=json_values)
def test_no_document_does_more_than_be_refused(document: Any) -> None:
    """Whatever JSON comes, it is read or refused."""
    with suppress(LoadReportError):
        assert read_load_report(document).window_seconds >= 0


def test_a_shorter_window_is_served_where_the_asked_one_is_missing() -> None:
    """Never a longer one; the original watcher looks one window further and no more."""
    assert served_window(["5m"], "15m") == "5m"
    assert served_window(["5m"], "15m", is_upstream=True) is None
    assert served_window(["15m"], "5m") is None
    assert served_window(["15m"], "1h") is None


@pytest.mark.parametrize("is_flat", [True, False])
def test_pods_stand_beside_the_nodes(is_flat: bool) -> None:
    """An extension of ours, in either form of the nodes; a pod is no node."""
    nodes, pods = {"a": {"metrics": [metric()]}}, {"ns/p": {"metrics": [metric(value=3)]}, "ns/q": {}}
    data = {**(nodes if is_flat else {"NodeMetricsMap": nodes}), "PodMetricsMap": pods}
    report = read_load_report({"window": WINDOW, "data": data})
    assert list(report.nodes) == ["a"]
    assert report.pods == {"ns/p": (("CPU", "AVG", 3.0),)}
    with pytest.raises(LoadReportError, match=r"data.PodMetricsMap: found \[\]"):
        read_load_report({"window": WINDOW, "data": {"PodMetricsMap": []}})
