"""The make-room benchmark: its data form, its judge, and its result."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from benchmarks import make_room
from benchmarks.baselines import Baseline
from benchmarks.evaluator import judge
from benchmarks.instances import Family, make_family
from benchmarks.snapshot_form import InstanceError, read_snapshots
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.scheduler_model import SchedulerModel

SNAPSHOT = {
    "source": "test",
    "unit": "pieces",
    "resources": ["gpu", "watts"],
    "nodes": [["left", 4, 100], ["right", 4, 100]],
    "pods": [["a", "A", 0, "left", 2, 10], ["b", None, 0, "right", 1, 10], ["c", "C", 5, None, 4, 20]],
}


def written(path: Path, *objects: object, compressed: bool = False) -> Path:
    """Objects as a file of the snapshot form, one a line."""
    data = "\n".join(map(json.dumps, objects)).encode()
    path.write_bytes(lzma.compress(data) if compressed else data)
    return path


@pytest.mark.parametrize("compressed", [False, True])
def test_the_result_is_enough_to_recompute_the_value(tmp_path: Path, compressed: bool) -> None:
    """Any resource names, plain or xz; moves are in an order that is feasible step by step."""
    data = written(tmp_path / "data", SNAPSHOT, compressed=compressed)
    target = tmp_path / "result.json"
    assert make_room.main(["--data", str(data), "--deadline", "5s", "--seed", "0", "-o", str(target)]) == 0
    report = json.loads(target.read_text())
    assert set(report) == {"instance", "seconds", "peakMegabytes", "value", "bound", "result"}
    assert (report["value"], report["bound"]) == (1, 1)
    assert report["result"]["moves"] in ([["a", "right"]], [["b", "left"]])
    assert report["result"]["placements"][0][0] == "c"
    assert report["result"]["evictions"] == 1


def test_several_instances_of_a_file_are_summed(tmp_path: Path) -> None:
    """One result for each line, in file order."""
    report = make_room.run(read_snapshots(written(tmp_path / "data", SNAPSHOT, SNAPSHOT)), "data", 5.0, 0)
    assert report["value"] == 2
    assert len(report["result"]) == 2


def test_fractions_are_read_exactly(tmp_path: Path) -> None:
    """Amounts that are no whole numbers are scaled, not rounded."""
    halves = {
        **SNAPSHOT,
        "nodes": [["left", 0.3, 100]],
        "pods": [["a", None, 0, None, 0.1, 1], ["b", None, 0, None, 0.2, 1]],
    }
    assert make_room.run(read_snapshots(written(tmp_path / "data", halves)), "data", 5.0, 0)["result"]["helped"] == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pods": [["a", "A", 0, "middle", 2, 10]]}, "'middle', which is not in the file"),
        ({"pods": [["a", "A", 0, "left", 2]]}, "has 1 amounts for 2 resources"),
        ({"resources": None}, "not in the snapshot form"),
    ],
)
def test_a_broken_instance_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], told: str
) -> None:
    """One line says what was found; there is no traceback."""
    data = written(tmp_path / "data", {**SNAPSHOT, **change})
    assert make_room.main(["--data", str(data)]) == 1
    assert told in capsys.readouterr().err


def test_text_that_is_no_json_is_refused(tmp_path: Path) -> None:
    """So is a cut-off archive."""
    (tmp_path / "text").write_text("hello")
    (tmp_path / "cut").write_bytes(lzma.compress(b"{}" * 1000)[:40])
    for name in ("text", "cut"):
        with pytest.raises(InstanceError, match="not JSON in the snapshot form"):
            read_snapshots(tmp_path / name)


def test_the_judge_finds_faults(tmp_path: Path) -> None:
    """A pod that moves without room, twice, or nowhere is a fault; the tally is by priority."""
    snapshot = read_snapshots(written(tmp_path / "data", SNAPSHOT))[0]
    assert judge(snapshot, [(0, 1)], [(2, 0)]).faults == []
    assert judge(snapshot, [(0, 1)], [(2, 0)]).helped == (1,)
    assert judge(snapshot, [], [(2, 0)]).faults == ["no room for pod 2 on node 0 in gpu"]
    assert len(judge(snapshot, [(0, 1), (0, 0)], []).faults) == 1
    assert len(judge(snapshot, [(2, 0)], []).faults) == 1
    assert judge(snapshot, [], [(0, 1)]).faults == ["pod 0 is placed but was not pending"]


def test_families_follow_from_the_seed_and_leave_pods_that_fit_nowhere() -> None:
    """The generator is repeatable, its clusters are within capacity, and its pending pods need evictions."""
    family = Family("S", 3, 0.8, 1)
    cluster, eligibility = make_family(family)
    assert make_family(family)[0].pods == cluster.pods
    assert make_family(Family("S", 3, 0.8, 2))[0].pods != cluster.pods
    prediction = SchedulerModel(columns_of(cluster))
    placement = Placement(prediction.columns)
    assert (placement.free() >= 0).all()
    assert len(eligibility.helpable) == 3
    assert not any(prediction.feasible(pod, placement).any() for pod in eligibility.helpable)


def test_baselines_help_with_more_evictions() -> None:
    """Both greedy rules find a way on an easy family, the size-blind one by far the dearer."""
    cluster, eligibility = make_family(Family("S", 1, 0.8, 0))
    prediction = SchedulerModel(columns_of(cluster))
    first = Baseline(prediction, eligibility).first_node_that_works()
    greedy = Baseline(prediction, eligibility).preemption_style()
    assert first.helped == greedy.helped == 1
    assert first.evictions >= greedy.evictions >= 1
