"""Solving leaves Ctrl-C to us."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import signal
from rescheduler.policy.fields.policy import Policy
from rescheduler.adapters.simulated.scenarios import fragmented
from rescheduler.adapters.clock import SystemClock
from rescheduler.cycle import CycleOptions, make_plan

plan = make_plan(fragmented(0), Policy(), CycleOptions(SystemClock()))
assert plan.moves
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted in Python")
"""


def test_an_interrupt_after_planning_reaches_us() -> None:
    """The solver does not put the default handler in place of ours, under which Ctrl-C would leave holds standing."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted in Python"), done.stderr
