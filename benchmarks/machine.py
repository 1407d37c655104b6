"""What a measurement ran on, and how much memory it took."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rescheduler.extension_points import Clock


class MonotonicClock(Clock):
    """The machine's own clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


def processor_seconds(command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None) -> float:
    """User and system time of a command and of the processes that it waited for. Raises CalledProcessError."""
    before = os.times()
    subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def peak_megabytes() -> float:
    """Most memory that this process has held at once."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def describe_machine() -> str:
    """Processor, cores and Python."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


class ProcessorClock(MonotonicClock):
    """Counts the planning thread's processor time only, for a machine that does other work."""

    def monotonic(self) -> float:
        """Seconds that this thread has computed."""
        return time.thread_time()
