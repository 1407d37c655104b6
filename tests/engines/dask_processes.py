"""A Dask scheduler and its workers as processes on loopback, which tests may kill.

They are started by the commands of the manifest in docs/back-testing.md, and by what tests need besides.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.paths import ROOT
from tests.unit.docs.dask_manifest import dask_container

START_SECONDS = 60.0


class DaskProcesses:
    """One scheduler, and as many workers as are added; so many at first, which have joined."""

    def __init__(self, folder: Path, workers: int = 0) -> None:
        self._folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._started("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                                       "--scheduler-file", str(file))  # fmt: skip
        try:
            self.address = str(json.loads(_appeared(file))["address"])
            for _ in range(workers):
                self.add_worker()
            if workers:
                self.wait_for_workers()
        except BaseException:
            self.stop()
            raise

    def add_worker(self, version: str | None = None) -> subprocess.Popen[bytes]:
        """One process without a nanny; ``version``: what it says it has of ours."""
        preload = []
        if version is not None:
            script = self._folder / f"version_{version.replace('.', '_')}.py"
            script.write_text(
                f"import rescheduler, rescheduler.batch.engine.dask_cluster as ours\nours.__version__ = {version!r}\n"
            )
            preload = ["--preload", str(script)]
        worker = self._started(
            "worker", "--no-nanny", "--no-dashboard", "--local-directory", str(self._folder), *preload
        )
        self.workers.append(worker)
        return worker

    def wait_for_workers(self) -> None:
        """Until all that were added have joined."""
        import distributed

        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=START_SECONDS)

    def stop(self) -> None:
        """Kill what still runs."""
        for process in (*self.workers, self.scheduler):
            kill(process)

    def _started(self, component: str, *arguments: str) -> subprocess.Popen[bytes]:
        """As Dask's operator and a kubelet do: a worker learns its name and its scheduler by the environment."""
        name = f"{component}-{len(self.workers)}"
        given = {} if component == "scheduler" else {"DASK_WORKER_NAME": name, "DASK_SCHEDULER_ADDRESS": self.address}
        command = [part.replace("$(DASK_WORKER_NAME)", name) for part in dask_container(component)["command"]]
        log = (self._folder / f"{name}.log").open("wb")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", *command, *arguments], stdout=log, stderr=log, cwd=ROOT,
                env={**os.environ, **given, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip


def kill(process: subprocess.Popen[bytes]) -> None:
    """As ``kill -9`` does."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


def _appeared(file: Path) -> str:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if file.exists() and (text := file.read_text()).strip().endswith("}"):
            return text
        time.sleep(0.1)
    raise TimeoutError(f"{file} did not appear")
