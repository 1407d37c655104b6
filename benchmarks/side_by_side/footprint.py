"""What one run of a program took, and what it printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MEASURED_PROCESS = Path(__file__).with_name("measured_process.py")


@dataclass(frozen=True)
class Footprint:
    """One run of a program."""

    code: int
    """Its exit code; 124 where its time was over."""
    output: str
    errors: str
    wall_seconds: float
    cpu_seconds: float
    peak_megabytes: float
    """Most memory it held at once (resident set), its children's apart."""


def run_measured(command: Sequence[str], *, timeout_seconds: float, state: Path | None = None) -> Footprint:
    """Run a program to its end; the first part of the command is a path.

    ``state``: where it keeps what it remembers of clusters; None: where it does on this machine.
    """
    remembers = {} if state is None else {"XDG_STATE_HOME": str(state)}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(MEASURED_PROCESS), str(report), str(timeout_seconds), *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env={**os.environ, "NO_COLOR": "1", **remembers},
        )  # fmt: skip
        if not report.exists():
            raise RuntimeError(f"{command[0]} could not be run:\n{done.stderr.strip()[-2000:]}")
        found = json.loads(report.read_text())
    return Footprint(
        done.returncode, done.stdout, done.stderr,
        found["wallSeconds"], found["cpuSeconds"], found["peakMegabytes"],
    )  # fmt: skip
