"""Parts of the composition are loaded when they are asked for, so that a watcher is back quickly after a crash."""

from __future__ import annotations

import subprocess
import sys


def test_a_watcher_loads_no_planner() -> None:
    """Solver and numerics of the planner take longer to load than everything that a watcher needs."""
    code = (
        "import sys; from rescheduler.composition.load.metrics import token_reader;"
        "from rescheduler.composition.load.watching import UsageWatch;"
        "found = {'ortools', 'scipy', 'pandas', 'rescheduler.planning'} & set(sys.modules); assert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
