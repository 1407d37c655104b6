"""The scheduling benchmark: all ways agree, and the result says what was placed where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.scheduling.__main__ import main
from benchmarks.scheduling.instance import make_cluster
from benchmarks.scheduling.plain import PlainScheduler
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.scheduler_model import SchedulerModel


def test_the_result_is_enough_to_recompute_the_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each way placed the pods alike, or the benchmark would have failed."""
    output = tmp_path / "result.json"
    assert (
        main(["--nodes", "30", "--pods", "400", "--count", "60", "--seed", "3", "--numpy-only", "-o", str(output)]) == 0
    )
    report = json.loads(output.read_text())
    assert {"instance", "seconds", "peakMegabytes", "value", "bound", "result"} <= set(report)
    placed = [node for _, node in report["result"]["placements"] if node is not None]
    assert report["value"] == len(placed) <= report["bound"] == 60
    assert "| 60 pods in sequence | numpy |" in capsys.readouterr().out


def test_a_recording_can_be_measured(tmp_path: Path) -> None:
    """In the form that the program's own option ``-f`` takes."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    ready = [{"type": "Ready", "status": "True"}]
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"},
            "status": {"allocatable": amounts, "conditions": ready}}  # fmt: skip
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": "default", "name": "x", "uid": "1"},
           "spec": {"containers": [container]}, "status": {"phase": "Pending"}}  # fmt: skip
    data, output = tmp_path / "cluster.json", tmp_path / "result.json"
    data.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node, pod]}))
    assert main(["--data", str(data), "--numpy-only", "-o", str(output)]) == 0
    assert json.loads(output.read_text())["result"]["placements"] == [["default/x", "n1"]]


def test_a_broken_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback."""
    data = tmp_path / "broken"
    data.write_text("{]")
    assert main(["--data", str(data)]) == 1
    assert str(data.name) in capsys.readouterr().err


def test_the_plain_path_is_right() -> None:
    """The yardstick agrees with the plugins on every pod without ties."""
    world = make_cluster(25, 300, 1)
    columns = columns_of(world)
    model, placement, plain = SchedulerModel(columns, arithmetic=None), Placement(columns), PlainScheduler(world)
    free = SchedulerModel(columns).fast_path
    assert free is not None
    for number, home in enumerate(columns.initial_node_of.tolist()):
        if home >= 0 and free.kinds.of(number) is not None:
            plain.hold(world.pods[number], home, -1)
            assert plain.best_nodes(world.pods[number]) == model.best_nodes(number, placement).tolist()
            plain.hold(world.pods[number], home, 1)
