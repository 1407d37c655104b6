"""What a plan for a small file costs beside the import of CP-SAT alone: CPU seconds, medians of alternating runs.

python -m benchmarks.start_up [--runs 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys

from benchmarks.machine import describe_machine, processor_seconds

IMPORT = ("-c", "import ortools.sat.python.cp_model")
PLAN = ("-m", "rescheduler", "plan", "-f", "docs/examples/small.json")
"""Run from the folder of the checkout."""


def main() -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    cpu_seconds(PLAN)  # compiles what has not been compiled to bytecode
    measured = [(cpu_seconds(IMPORT), cpu_seconds(PLAN)) for _ in range(runs)]
    alone, plan = (statistics.median(column) for column in zip(*measured, strict=True))
    print(f"# {describe_machine()}; CPU seconds, medians of {runs} alternating runs")
    print(f"| import of CP-SAT alone | {alone:.2f} |\n| plan for the small example | {plan:.2f} |")
    print(f"| times | {plan / alone:.2f} |")
    return 0


def cpu_seconds(arguments: tuple[str, ...]) -> float:
    """User and system time of one interpreter."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return processor_seconds([sys.executable, *arguments], environment)


if __name__ == "__main__":
    raise SystemExit(main())
