"""One component of the control plane as a process: started, watched until ready, paused, stopped, its log kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cluster.waiting import wait_until

LAUNCHER = Path(__file__).parent / "die_with_parent.py"
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 15.0


class ComponentError(RuntimeError):
    """A component did not start, or died."""


class Component:
    """A process that can be started again with the same command and port.

    Its life is bound to the thread that starts it, so start it from one that stays.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path, is_ready: Callable[[], bool]) -> None:
        self.name = name
        self.log = log
        self._command = [str(part) for part in command]
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process is there (paused counts as there)."""
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Start the process and come back at once; its log goes on where it was."""
        if self.is_running:
            raise ComponentError(f"{self.name} is running already")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(LAUNCHER), str(os.getpid()), *self._command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C reaches us alone, and we stop the components in order
            )

    def wait_ready(self) -> None:
        """Wait until the component says that it is ready; a dead process ends the wait."""
        wait_until(self._ready_or_dead, self._not_ready, timeout_seconds=START_TIMEOUT_SECONDS)

    def start(self) -> None:
        """Start the process and wait until it is ready."""
        self.launch()
        self.wait_ready()

    def stop(self, *, gracefully: bool = True) -> None:
        """End the process: by SIGTERM, and by SIGKILL where that does not do, or from the start."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        if gracefully:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                gracefully = False
        if not gracefully:
            process.kill()
            process.wait()

    def pause(self) -> None:
        """Freeze the process."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen process go on; a running one does not notice."""
        self._signal(signal.SIGCONT)

    def log_tail(self, lines: int = 40) -> str:
        """Return the last lines of the log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to a process that must be there."""
        if self._process is None or self._process.poll() is not None:
            raise ComponentError(f"{self.name} is not running\n{self.log_tail()}")
        self._process.send_signal(number)

    def _ready_or_dead(self) -> bool:
        """Whether the component is ready; raises where it died."""
        if not self.is_running:
            raise ComponentError(f"{self.name} ended while starting; its log ends with\n{self.log_tail()}")
        return self._is_ready()

    def _not_ready(self) -> str:
        """Say which component is not ready, with its log."""
        return f"{self.name} to be ready; its log ends with\n{self.log_tail()}"
