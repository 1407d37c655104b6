"""The daemon as a user runs it against the test cluster: its process, and what it has logged so far."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

AT_ONCE = """
health: {settle: 0s, headRoom: 0%, calm: 0s, pendingRising: 0s, apiLatency: 0s}
scope: {minimumAge: 0s}
"""
"""Test clusters are minutes old, small and full: the rules for calm ones would freeze the daemon. And their API server
shares its processors with everything else that is tested: one slow answer of a hundred is nothing unusual there."""
NO_RATES = "rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}, rampUp: unlimited"
"""A test has seconds for what a daemon does in days by default; one workload is all that many of them move."""
SHORT_BACK_OFF = f"backOff: {{first: 1s, longest: 1s}}, {NO_RATES}"
STRAYS = f"disruption: {{{SHORT_BACK_OFF}}}"
"""A replacement that the scheduler puts elsewhere than predicted would keep the rest of the plan back for an hour."""
SHORT_LEASE = "leaderElection: {leaseDuration: 8s, renewDeadline: 6s, retryPeriod: 2s}"
"""The first leader waits for one lease to run out. Much shorter, and a machine at its limits loses it in mid-plan."""


class DaemonProcess:
    """One ``rescheduler run``."""

    def __init__(self, tool: Tool, *arguments: str) -> None:
        self.process = tool.start("run", *arguments, process_group=0)
        self.lines: list[dict[str, Any]] = []
        self.noise: list[str] = []
        self.hears = threading.Event()
        """Cleared, nobody reads what it writes: a pipe that is full makes it wait."""
        self.hears.set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def events(self, name: str) -> list[dict[str, Any]]:
        """Lines of one event."""
        return [line for line in self.lines if line.get("event") == name]

    def wait_for(self, name: str, *, count: int = 1, timeout_seconds: float = 150.0, **fields: Any) -> dict[str, Any]:
        """The newest line of an event with these fields, once there are so many."""

        def matching() -> list[dict[str, Any]]:
            return [line for line in self.events(name) if fields.items() <= line.items()]

        def is_there() -> bool:
            assert self.process.poll() is None or len(matching()) >= count, self.told()
            return len(matching()) >= count

        wait_until(is_there, lambda: f"{count} of {name} {fields}: {self.told()}", timeout_seconds=timeout_seconds)
        return matching()[-1]

    def stop(self, number: signal.Signals = signal.SIGTERM, *, timeout_seconds: float = 30.0) -> int:
        """Ask it to stop and wait for that; its exit code."""
        self.process.send_signal(number)
        try:
            code = self.process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"did not stop: {self.told()}") from None
        self.close()
        return code

    def close(self) -> None:
        """Let go of it; killed if it still runs."""
        self.hears.set()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self._reader.join(10)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def told(self) -> str:
        """The end of what it has said, for messages."""
        return "\n".join([*(json.dumps(line) for line in self.lines[-25:]), *self.noise[-25:]])

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.hears.wait()
            try:
                self.lines.append(json.loads(line))
            except json.JSONDecodeError:
                self.noise.append(line.rstrip())


@contextmanager
def daemon(tool: Tool, *arguments: str) -> Iterator[DaemonProcess]:
    """A daemon for the time of a test; killed in the end if it still runs."""
    process = DaemonProcess(tool, *arguments)
    try:
        yield process
        assert not any("Traceback" in line for line in process.noise), process.told()
    finally:
        process.close()
