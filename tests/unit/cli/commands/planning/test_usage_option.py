"""Measured load from a recording: thresholds and scores go by it, and what is wrong with it is told."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest

from tests.unit.cli.desk import KUBE, NODES, VOLCANO, Desk, waiting


def usage(end: float = 1777629600.0, pods: dict[str, Any] | None = None, **cpu: Any) -> str:
    """A load watcher's answer: percent of cpu by node, memory 10 %."""
    nodes = {
        name: {"metrics": [{"type": "CPU", "operator": "AVG", "value": value},
                           {"type": "Memory", "operator": "AVG", "value": 10}]}
        for name, value in cpu.items()
    }  # fmt: skip
    window = {"duration": "15m", "start": end - 900, "end": end}
    return json.dumps({"timestamp": end, "window": window, "source": "test", "data": {"NodeMetricsMap": nodes}})


def test_volcanos_thresholds_close_hot_nodes_to_its_own_pods_only(desk: Desk) -> None:
    """Measured load of c above the threshold: Volcano's pod goes elsewhere, the default scheduler's does not mind."""
    desk.file("volcano.conf", VOLCANO)
    load = desk.file("usage.json", usage(a=20, b=30, c=81))
    desk.policy("schedulers: [{file: volcano.conf}, {schedulerName: packing}]")
    found = {item["pod"]["name"]: item for item in desk.document("schedule", "--usage", load)["pods"]}
    assert found["default-scheduler"]["node"] == "c"
    assert found["volcano"]["node"] in ("a", "b")
    scored = desk.document("score", "default/volcano", "--usage", load)
    (hot,) = [item for item in scored["nodes"] if not item["feasible"]]
    assert (hot["node"], hot["reasons"]) == ("c", ["the CPU load of the node exceeds the upper limit."])
    plan = desk.document("plan", "--usage", load)
    assert {item["pod"]["name"]: item["node"] != "c" for item in plan["placements"]}["volcano"]
    explained = desk.document("explain", "pod", "default/volcano", "--usage", load)
    assert [item["node"] for item in explained["nodes"] if not item["feasible"]] == ["c"]


def test_without_load_volcanos_thresholds_keep_nobody_out(desk: Desk) -> None:
    """Nothing is measured: every node is open, and a warning says where load could come from."""
    desk.file("volcano.conf", VOLCANO)
    desk.policy("schedulers: [{file: volcano.conf}]")
    answer = desk.run("score", "default/volcano", "-o", "json")
    assert {item["feasible"] for item in json.loads(answer.out)["nodes"]} == {True}
    (told,) = answer.err.splitlines()
    assert told.startswith("warning: volcano: scores go by load that is not measured here")
    assert "Prometheus" in told


def test_load_aware_scores_go_by_the_recording(desk: Desk) -> None:
    """TargetLoadPacking likes the node that the pod brings up to the target of 40 %; requests alone say otherwise."""
    desk.record(*NODES, waiting("default-scheduler", "p"))
    desk.file("k.yaml", KUBE + dedent("""\
        profiles:
        - plugins: {score: {disabled: [{name: "*"}], enabled: [{name: TargetLoadPacking, weight: 1}]}}
          pluginConfig:
          - {name: TargetLoadPacking, args: {targetUtilization: 40, watcherAddress: "http://watcher:2020"}}
        """))  # fmt: skip
    desk.policy("schedulers: [{file: k.yaml}]")
    load = desk.file("usage.json", usage(a=0, b=2, c=60))
    scored = desk.document("score", "default/p", "--usage", load)["nodes"]
    totals = {item["node"]: item["total"] for item in scored}
    assert totals["b"] > totals["a"] > totals["c"]
    unmeasured = json.loads(desk.run("score", "default/p", "-o", "json").out)["nodes"]
    assert {item["total"] for item in unmeasured} == {totals["a"]}


def test_usage_that_is_of_little_use_is_warned_of(desk: Desk) -> None:
    """Unknown nodes, nodes without a usable value, and a window that ended long before the snapshot."""
    desk.policy("")
    text = usage(end=1777629600.0 - 3600, a=20, zz=1).replace("20", "NaN", 1)
    answer = desk.run("schedule", "--usage", desk.file("usage.json", text))
    assert answer.code == 0
    assert "usage.json: the cluster has no node zz" in answer.err
    assert "no usable cpu or memory load for node b, c; it counts as unknown" in answer.err
    assert "its window ended 1h before the snapshot was taken, over 5m ago" in answer.err


@pytest.mark.parametrize(("name", "said"), [("", "an empty file name"), ("-", "not read from standard input")])
def test_a_name_that_is_no_files_is_wrong_use(desk: Desk, name: str, said: str) -> None:
    """Standard input is for the cluster."""
    desk.policy("")
    answer = desk.run("schedule", "--usage", name)
    assert (answer.code, answer.out) == (2, "")
    assert f"{said}; name a recording of load" in answer.err


@pytest.mark.parametrize("value", ["NaN", "null", "-3", "1e999"])
def test_one_value_that_cannot_be_used_is_told_and_counts_as_unknown(desk: Desk, value: str) -> None:
    """Though the node's other resource is known: its cpu neither opens nor closes it, and the file is read."""
    desk.file("volcano.conf", VOLCANO)
    desk.policy("schedulers: [{file: volcano.conf}]")
    load = desk.file("usage.json", usage(a=85, b=85, c=7777).replace("7777", value))
    answer = desk.run("score", "default/volcano", "--usage", load, "-o", "json")
    assert answer.code == 0
    assert {item["node"]: item["feasible"] for item in json.loads(answer.out)["nodes"]} == {
        "a": False, "b": False, "c": True
    }  # fmt: skip
    (told,) = answer.err.splitlines()
    assert "usage.json: NodeMetricsMap c: CPU AVG " in told
    assert told.endswith("wanted percentages of 0 or more; such values count as unknown")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; wanted the JSON that GET /watcher returns"),
        ("{", "usage.json: "),
        ("[]", "the report: found [], wanted a mapping"),
        ('{"data": {}}', "window: found nothing"),
        ('{"window": {"start": 1, "end": 0}, "data": {}}', "window.end: found 0, wanted a time not before"),
        ('{"window": {"start": 0, "end": 1}, "data": {"a": {"metrics": [{"value": "x"}]}}}', "found 'x', wanted a num"),
        ("[" * 100_000, "usage.json: "),
    ],
)
def test_a_broken_recording_of_load_is_refused_in_one_paragraph(desk: Desk, text: str, said: str) -> None:
    """Exit 1 with file and field; nothing on standard output."""
    desk.policy("")
    answer = desk.run("plan", "--usage", desk.file("usage.json", text))
    assert (answer.code, answer.out) == (1, "")
    assert said in answer.err
    assert len(answer.err.splitlines()) == 1
    assert "usage.json" in answer.err


SPREAD = "objectives: [{name: SpreadLoad, args: {target: {cpu: 60%}}}]"


def test_the_page_of_a_plan_draws_the_load_that_spread_load_judges_by(desk: Desk) -> None:
    """Beside requests, for nodes that change and for those that do not; the table keeps to requests."""
    desk.record(*NODES)
    desk.policy(SPREAD)
    load = desk.file("usage.json", usage(a=20, b=30, c=81))
    page = desk.run("plan", "--usage", load, "-o", "html").out
    for figures in ("0.8 of 4", "1.2 of 4", "3.24 of 4"):
        assert f"<b>cpu in use</b><u>{figures}</u>" in page
    assert "in use" not in desk.run("plan", "--usage", load, "-o", "wide").out


def test_a_page_without_measured_load_draws_requests_alone(desk: Desk) -> None:
    """Requests that stand in for use are drawn once."""
    desk.record(*NODES)
    desk.policy(SPREAD)
    assert "in use</b>" not in desk.run("plan", "-o", "html").out
