"""A real Dask scheduler with workers: the same bytes as serial, and each task once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rescheduler import __version__
from rescheduler.batch.backtest.policy_variants import PolicyVariants, parse_set, read_variants
from rescheduler.batch.backtest.running import BacktestRequest, BacktestSpan, run_backtest
from rescheduler.batch.backtest.task import Task
from rescheduler.batch.engine.dask_cluster import DaskCluster
from rescheduler.batch.engine.tasks import EngineError
from rescheduler.report.documents import to_json
from tests.engines.dask_processes import DaskProcesses
from tests.unit.batch.backtest.archives import archive, sparse
from tests.unit.batch.engine.working import Here, deadly, doubled, faulty

pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskProcesses]:
    """A scheduler and two workers."""
    found = DaskProcesses(tmp_path, workers=2)
    try:
        yield found
    finally:
        found.stop()


def test_a_thousand_tasks_say_what_they_say_serially(dask: DaskProcesses) -> None:
    """Each once, and the engine takes at most 20 ms for one besides the work."""
    tasks = {str(number): str(number).encode() for number in range(1000)}
    began = time.monotonic()
    done = list(DaskCluster(dask.address).run(doubled, tasks))
    seconds = time.monotonic() - began
    assert Counter(one.key for one in done) == Counter(list(tasks))
    assert sorted(done) == sorted(Here().run(doubled, tasks))
    print(f"{seconds:.2f} s, {seconds:.2f} ms a task")
    assert seconds < 20.0


@pytest.mark.parametrize("replay", [False, True])
def test_a_back_test_says_the_same_bytes_on_dask(dask: DaskProcesses, tmp_path: Path, replay: bool) -> None:
    """Plans and histories alike."""
    kept = archive(tmp_path, [sparse()] * 4)
    variants = shipped_twice()
    request = BacktestRequest(Task(kept, (), "", replay=replay), BacktestSpan())
    here, there = (run_backtest(request, variants, engine) for engine in (Here(), DaskCluster(dask.address)))
    assert to_json(there.document) == to_json(here.document)
    assert here.failures == ()


def shipped_twice() -> PolicyVariants:
    """A policy with two settings."""
    return read_variants(["consolidate"], [parse_set("limits.maxEvictions=1,9")])


def test_nobody_at_the_address(tmp_path: Path) -> None:
    """Told at once."""
    with pytest.raises(EngineError, match=r"127\.0\.0\.1:9 is out of reach"):
        list(DaskCluster("tcp://127.0.0.1:9").run(doubled, {"a": b""}))


def test_a_task_that_kills_workers_is_given_up_and_the_others_are_done(dask: DaskProcesses, tmp_path: Path) -> None:
    """After its fourth worker."""
    for _ in range(4):
        dask.add_worker()
    dask.wait_for_workers()
    notes = tmp_path / "notes"
    notes.touch()
    tasks = {name: f"{name}@{notes}".encode() for name in ("a", "deadly", "b")}
    done = {one.key: one for one in DaskCluster(dask.address).run(deadly, tasks)}
    assert done["deadly"].result is None
    assert [done[name].result for name in ("a", "b")] == [b"a", b"b"]
    assert Counter(notes.read_text().split())["deadly"] == 4


def test_a_fault_is_not_tried_again(dask: DaskProcesses, tmp_path: Path) -> None:
    """It would be the same."""
    notes = tmp_path / "notes"
    notes.touch()
    done = {one.key: one for one in DaskCluster(dask.address).run(faulty, {"bad": f"bad@{notes}".encode()})}
    assert done["bad"].failure == "it was bad"
    assert notes.read_text() == "bad\n"


def test_workers_of_another_version_get_no_task(tmp_path: Path) -> None:
    """If no other is left, both versions are told; a late comer of ours does all the work."""
    dask = DaskProcesses(tmp_path)
    try:
        dask.add_worker("0.0.7")
        dask.wait_for_workers()
        with pytest.raises(EngineError, match=f"has kube-rescheduler {__version__}; found: 0.0.7"):
            list(DaskCluster(dask.address).run(doubled, {"a": b"x"}))
        dask.add_worker()
        dask.wait_for_workers()
        done = list(DaskCluster(dask.address).run(doubled, {str(n): b"x" for n in range(20)}))
        assert len(done) == 20
    finally:
        dask.stop()
