"""A watcher that is killed at any moment loses no tick that it has acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.usage.rings import NodeRing
from rescheduler.usage.windows import usage_windows
from tests.metrics.tick_writer import INTERVAL, KEPT_TICKS, number_of, numbered_tick, open_store
from tests.unit.usage.sampling import old_nodes

WINDOWS = (300.0, 600.0, 900.0)


@pytest.mark.parametrize("kills", [8, pytest.param(50, marks=pytest.mark.e2e)])
def test_no_acknowledged_tick_is_lost(tmp_path: Path, kills: int) -> None:
    """After each kill: all newest ticks are there, as they were written, and no file was moved aside."""
    path, acknowledged = tmp_path / "usage.sqlite", tmp_path / "acknowledged"
    chance = random.Random(7)
    with writers(path, acknowledged) as killed_after:
        for _ in range(kills):
            # A quarter is killed at the start, while the file is opened and looked through.
            ticks = 0 if chance.random() < 0.25 else chance.randint(1, 25)
            killed_after(ticks, chance.uniform(0.0, 0.06 if ticks == 0 else 0.003))
            check(path, last_of(acknowledged))
        # How many ticks a writer adds to those waited for depends on the machine: the last one adds what lacks.
        killed_after(max(0, KEPT_TICKS + 1 - last_of(acknowledged)), 0.0)
        check(path, last_of(acknowledged))
    assert last_of(acknowledged) > KEPT_TICKS, "ticks were pruned too"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["acknowledged", "usage.sqlite", "usage.sqlite.lock"]


def check(path: Path, last: int) -> None:
    """What is restored is what was written, up to the last acknowledged tick, and so are the windows."""
    store = open_store(path)
    restored = store.restore(float("-inf"))
    store.close()
    numbers = [number_of(float(at)) for samples in restored for at in samples.times]
    # The tick being written may be there, unacknowledged.
    assert numbers in [list(range(max(0, end - KEPT_TICKS + 1), end + 1)) for end in (last, last + 1)]
    if not numbers:
        return
    written = [numbered_tick(number) for number in numbers]
    one, other = windows_of(restored, numbers[-1]), windows_of(written, numbers[-1])
    for seconds in WINDOWS:
        np.testing.assert_array_equal(one.by_seconds[seconds].window_end, other.by_seconds[seconds].window_end)
        for metric in NODE_METRICS:
            wanted = other.by_seconds[seconds].statistics[metric]
            for name, row in vars(one.by_seconds[seconds].statistics[metric]).items():
                np.testing.assert_array_equal(row, getattr(wanted, name))


def windows_of(ticks: list[NodeSamples], last: int) -> UsageWindows:
    """Windows after these ticks, of the nodes of the last one."""
    newest = numbered_tick(last)
    now, ring = float(newest.times[0]), NodeRing(WINDOWS, INTERVAL)
    for samples in ticks:
        ring.append(samples, now)
    return usage_windows(ring, WINDOWS, old_nodes(*newest.nodes), now)


def last_of(acknowledged: Path) -> int:
    """The last tick that was acknowledged, -1 if none was."""
    text = acknowledged.read_text() if acknowledged.exists() else ""
    return int(text.split()[-1]) if text else -1


@contextmanager
def writers(path: Path, acknowledged: Path) -> Iterator[Callable[[int, float], None]]:
    """A function that starts a writer and kills it so many ticks and then seconds later."""
    command = [sys.executable, "-m", "tests.metrics.tick_writer", str(path), str(acknowledged)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def killed_after(ticks: int, seconds: float) -> None:
            until = last_of(acknowledged) + ticks
            process.stdin.write("\n")
            child = int(process.stdout.readline())
            while last_of(acknowledged) < until:
                time.sleep(0.0005)
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
            assert int(process.stdout.readline()) == -signal.SIGKILL, "a writer ended by itself"

        try:
            yield killed_after
        finally:
            process.stdin.close()
            process.wait(30)
