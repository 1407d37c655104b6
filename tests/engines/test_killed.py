"""A thousand plans on Dask of which a worker, then the scheduler are killed: gone on with, and none lost or doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rescheduler.batch.backtest.policy_variants import parse_set, read_variants
from rescheduler.batch.backtest.running import BacktestRequest, BacktestSpan, run_backtest
from rescheduler.batch.backtest.task import Task
from rescheduler.policy.fields.policy import API_VERSION
from rescheduler.report.documents import to_json
from tests.engines.dask_processes import DaskProcesses, kill
from tests.paths import ROOT
from tests.unit.adapters.api_objects import node_object
from tests.unit.batch.backtest.archives import archive, owned, replica_set
from tests.unit.batch.engine.working import Here

pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]

TASKS = 1000
SETTINGS = 4
SETTING = "limits.maxEvictions=0,1,2,3"
WORKER_DIES_AFTER, SCHEDULER_DIES_AFTER = 400, 700
EMPTY = f"apiVersion: {API_VERSION}\nkind: ReschedulerPolicy\nobjectives: [{{name: EmptyNodes}}]\n"


class Asked:
    """One question: as many times as are needed, each with all settings; no two times are answered alike."""

    def __init__(self, folder: Path) -> None:
        two_nodes = [*map(node_object, "ab"), replica_set("web", 2),
                     owned("web-0", "a", "web"), owned("web-1", "b", "web")]  # fmt: skip
        self.archive = archive(folder, [two_nodes] * (TASKS // SETTINGS), every=60)
        self.policy, self.results = folder / "empty.yaml", folder / "results"
        self.policy.write_text(EMPTY)

    def serially(self) -> str:
        """The answer by one process."""
        request = BacktestRequest(Task(self.archive, (), ""), BacktestSpan())
        return to_json(run_backtest(request, read_variants([str(self.policy)], [parse_set(SETTING)]), Here()).document)

    def on_dask(self, address: str) -> subprocess.Popen[str]:
        """The command, under way."""
        return subprocess.Popen(
            [sys.executable, "-m", "rescheduler", "backtest", "--archive", self.archive, "--policy", str(self.policy),
             "--set", SETTING, "-o", "json", "--resume", str(self.results), "--engine", "dask", "--scheduler", address],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    def done(self) -> list[str]:
        """Whole lines of the file of results, but the first, which says what was asked."""
        text = self.results.read_text() if self.results.exists() else ""
        return text.split("\n")[1:-1]

    def wait(self, command: subprocess.Popen[str], lines: int) -> None:
        """Until so many tasks are written down."""
        while len(self.done()) < lines:
            assert command.poll() is None, command.communicate()
            time.sleep(0.05)


def test_a_worker_and_then_the_scheduler_killed_in_mid_run_lose_and_double_nothing(tmp_path: Path) -> None:
    """The command ends and names how to go on; the same again on another scheduler does what is left, and no more."""
    asked = Asked(tmp_path)
    first = DaskProcesses(folder(tmp_path, "first"), workers=2)
    try:
        command = asked.on_dask(first.address)
        asked.wait(command, WORKER_DIES_AFTER)
        kill(first.workers[0])
        asked.wait(command, SCHEDULER_DIES_AFTER)
        kill(first.scheduler)
        answer, told = command.communicate(timeout=60)
    finally:
        first.stop()
    assert (command.returncode, answer) == (1, "")
    assert first.address in told
    assert "--resume" in told
    kept = asked.done()
    assert SCHEDULER_DIES_AFTER <= len(kept) < TASKS
    second = DaskProcesses(folder(tmp_path, "second"), workers=1)
    try:
        command = asked.on_dask(second.address)
        serially = asked.serially()  # in the meantime
        answer, told = command.communicate(timeout=120)
    finally:
        second.stop()
    assert (command.returncode, told) == (0, "")
    assert answer == serially
    lines = asked.done()
    assert lines[: len(kept)] == kept
    assert len(lines) == len({json.loads(line)["task"] for line in lines}) == TASKS


def folder(where: Path, name: str) -> Path:
    """A new one."""
    (where / name).mkdir()
    return where / name
