"""Bad recordings of measured load, by the number of their case: no such number ever steers a plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.adapters.api_objects import CREATED, api_object, container, pod_object
from tests.unit.cli.desk import NODES, Desk

END = 1777629600.0
"""The time at which the desk's cluster was recorded."""


def report(data: Any, **fields: Any) -> str:
    """What GET /watcher answers, with these data."""
    return json.dumps({"timestamp": END, "window": {"start": END - 300, "end": END}, "data": data, **fields})


def metrics(*values: Any) -> dict[str, Any]:
    """Average use of the processors of one node, in percent, as often as it was told."""
    return {"metrics": [{"type": "CPU", "operator": "AVG", "value": value} for value in values]}


SPREAD = """
objectives: [{name: SpreadLoad, args: {target: {cpu: 50%}}}]
disruption: {ownerless: Allow, rampUp: unlimited}
"""


@pytest.mark.parametrize("value", ["NaN", "-513", "-0.013", "1e999", "null", '"NaN"', '"+Inf"'])
def test_s11_a_value_that_is_no_load_moves_nothing(desk: Desk, value: str) -> None:
    """It is told with its node, and counts as unknown: node a neither gives nor takes a pod for it."""
    desk.policy(SPREAD)
    pods = [pod_object(f"a-{at}", "a", containers=[container(cpu="1")]) for at in range(3)]
    old = json.loads(json.dumps([*NODES, *pods]).replace(CREATED, "2026-04-01T10:00:00Z"))
    desk.record(*old, api_object("Namespace", "later", metadata={"creationTimestamp": CREATED}))
    text = report({"NodeMetricsMap": {"a": metrics(7777), "b": metrics(10), "c": metrics(10)}})
    hot = desk.document("plan", "--usage", desk.file("usage.json", text.replace("7777", "90")))
    assert {move["fromNode"] for move in hot["moves"]} == {"a"}
    answer = desk.run("plan", "-o", "json", "--usage", desk.file("usage.json", text.replace("7777", value)))
    assert answer.code == 0
    assert "usage.json: NodeMetricsMap a: CPU AVG" in answer.err
    assert "such values count as unknown" in answer.err
    assert [move for move in json.loads(answer.out)["moves"] if "a" in (move["fromNode"], move["toNode"])] == []


TEXTS = [
    ("S11-text", report({"NodeMetricsMap": {"a": metrics("much")}}), "data.a.metrics[0].value: found 'much', wanted"),
    ("S11-boolean", report({"NodeMetricsMap": {"a": metrics(True)}}), "data.a.metrics[0].value: found True, wanted a"),
    ("S11-no-map", report([1]), "data: found [1], wanted a mapping as GET /watcher returns it"),
    ("S11-no-window", json.dumps({"data": {}}), "window: found nothing, wanted a mapping"),
    ("S11-backwards", report({}, window={"start": 9, "end": 1}), "window.end: found 1, wanted a time not before"),
    ("S11-no-time", report({}, window={"start": 0, "end": "now"}), "window.end: found 'now', wanted a number"),
    ("S1-cut-off", report({})[:-3], "wanted the JSON that GET /watcher returns"),
    ("S1-empty", " \n", "is empty; wanted the JSON that GET /watcher returns"),
    ("S1-deep", "[" * 100_000, "usage.json: "),
    ("S16-values", "[" + "1," * 5_000_001 + "1]", "holds more than 5,000,000 values"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), [each[1:] for each in TEXTS], ids=[each[0] for each in TEXTS])
def test_a_file_that_is_no_report_is_refused(desk: Desk, text: str, said: str) -> None:
    """Exit 1 with file and field in one paragraph, and nothing is planned."""
    desk.policy("")
    answer = desk.run("plan", "--usage", desk.file("usage.json", text))
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1)
    assert answer.err.startswith(f"error: {desk.folder / 'usage.json'}: ")
    assert said in answer.err


def test_s12_load_of_nodes_that_are_not_there_is_told(desk: Desk) -> None:
    """Names that no node has are named, and so are nodes without load; what is left is used."""
    desk.policy("")
    text = report({"NodeMetricsMap": {name: metrics(30) for name in ("a", "gone", "b\x1b[31m")}})
    answer = desk.run("schedule", "--usage", desk.file("usage.json", text))
    assert answer.code == 0
    assert "the cluster has no node" in answer.err
    assert "gone" in answer.err
    assert "no usable cpu or memory load for node b, c" in answer.err
    assert "\x1b" not in answer.err


def test_s13_load_measured_long_before_the_snapshot_is_told(desk: Desk) -> None:
    """An old window is used as it is asked, with its age beside it."""
    desk.policy("")
    text = report({"NodeMetricsMap": {"a": metrics(30)}}, window={"start": END - 7500, "end": END - 7200})
    answer = desk.run("schedule", "--usage", desk.file("usage.json", text))
    assert answer.code == 0
    assert "its window ended 2h before the snapshot was taken" in answer.err
