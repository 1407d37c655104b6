"""The same snapshot, policy and seed give the same plan, byte for byte, whatever the order of hashes (I27)."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import msgspec, sys
from msgspec import structs
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.plugins import parse_policy
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.scenarios import fragmented
text = "apiVersion: rescheduler/v1alpha1\\nkind: ReschedulerPolicy\\nlimits: {deadline: 200s}\\n"
plan = make_plan(fragmented(int(sys.argv[1])), parse_policy(text, "t.yaml"), CycleOptions(SimulatedClock(), seed=3))
assert plan.moves
timeless = tuple(structs.replace(item, seconds=0.0) for item in plan.objectives)
print(msgspec.json.encode(structs.replace(plan, objectives=timeless)).decode())
"""


def planned(seed: int, hashes: str) -> str:
    """A plan's JSON from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed)],
        env={**os.environ, "PYTHONHASHSEED": hashes}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout


def test_a_plan_repeats() -> None:
    """Once more in another process."""
    assert planned(4, "1") == planned(4, "2")
