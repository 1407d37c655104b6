"""The watcher benchmark measures what it says, at any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.watcher import __main__ as command
from benchmarks.watcher.measurements import TICKS, open_store, restart, watch
from benchmarks.watcher.table import measure_plain_table
from benchmarks.watcher.ticks import NOW, node_ticks, pod_ticks
from rescheduler.adapters.files.sqlite.usage_store import read_usage_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "usage.sqlite"


def test_what_was_watched_is_there_after_a_restart(path: Path) -> None:
    """Every tick of the hour; a restart that finds less fails."""
    found = watch(path, 4, 8, 0)
    assert {"appendTickMedian", "storeTickMedian", "windowsMedian", "appendPodsMedian", "podWindowsMedian"} <= set(
        found
    )
    kept = read_usage_store(path, NOW, print)
    assert [len(samples.times) for samples in kept] == [TICKS]


def store_of_an_hour(path: Path) -> None:
    """The store that watching leaves, without the process that left it."""
    store = open_store(path)
    for samples in node_ticks(4, TICKS, 15.0, 0):
        store.append(samples)
    store.close()


def test_a_restart_tells_how_long_each_step_took(path: Path) -> None:
    """The whole being no less than any of them."""
    store_of_an_hour(path)
    found = restart(path, 4)
    assert found["wallSeconds"] >= max(found[f"{step}Seconds"] for step in ("open", "restore", "windows")) - 0.001


def test_a_restart_that_misses_a_node_fails(path: Path) -> None:
    """Its figures would be of less work."""
    store_of_an_hour(path)
    with pytest.raises(AssertionError):
        restart(path, 5)


def test_the_plain_table_holds_the_same_samples(path: Path) -> None:
    """One row each, and answers for each window."""
    found = measure_plain_table(path, 4, 0)
    assert found["storeTick"] > 0
    assert found["windows"] > 0


def test_ticks_are_the_same_for_the_same_seed() -> None:
    """With gaps, and pods that no other tick has."""
    one, other = (list(node_ticks(50, 3, 15.0, 1)) for _ in range(2))
    assert all((a.values["cpu"] == b.values["cpu"]).sum() > 40 for a, b in zip(one, other, strict=True))
    first, second = pod_ticks(500, 2, 60.0, 1)
    assert len(set(first.pods) - set(second.pods)) == 200


def test_the_share_of_a_core_counts_every_act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes every 15 seconds, pods every 60."""
    acts = ("appendTick", "storeTick", "windows", "appendPods", "podWindows")
    answers = {
        "watch": {**{f"{act}Median": 0.5 for act in acts}, "peakMegabytes": 1.0},
        "restart": {"wallSeconds": 0.25},
        "plain_table": {"storeTick": 5.0, "windows": 50.0},
    }
    monkeypatch.setattr(command, "_measure", lambda *arguments: answers[arguments[0]])
    output = tmp_path / "result.json"
    assert command.main(["--folder", str(tmp_path), "-o", str(output)]) == 0
    assert '"value": 0.1167' in output.read_text()
    assert '"plainTableRatios": {\n   "storeTick": 10.0,\n   "windows": 100.0' in output.read_text()
