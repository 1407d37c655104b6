"""Whether five benchmarks take more processor time than at an earlier commit: medians of alternating runs.

python -m benchmarks.no_slower --before CHECKOUT --data ../shared/data [--runs 5] [--only NAME…]

Both checkouts use this interpreter. Where a search runs until its deadline, processor time says nothing: the cases end
by themselves, but for those of ``make_room`` and ``empty_nodes`` that their tables show with a gap.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.machine import describe_machine, processor_seconds

MOST = 1.05


def main() -> int:
    """Print a table in Markdown; exit code 1 where one is slower by more than 5 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="a checkout of the earlier commit")
    parser.add_argument("--data", type=Path, required=True, help="the folder of open benchmark data")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=None, help="names of benchmarks (default: all)")
    options = parser.parse_args()
    print(f"# {describe_machine()}; seconds of processor time, medians of {options.runs} alternating runs")
    print("| benchmark | before | now | now / before | spread of the runs |\n|---|---|---|---|---|")
    slower = []
    for name, arguments in commands(options.data.resolve()).items():
        if options.only and name not in options.only:
            continue
        pairs = [
            (cpu_seconds(options.before, name, arguments), cpu_seconds(Path(), name, arguments))
            for _ in range(options.runs)
        ]
        before, now = (statistics.median(column) for column in zip(*pairs, strict=True))
        spreads = (max(column) / min(column) - 1 for column in zip(*pairs, strict=True))
        told = ", ".join(f"{spread:.0%}" for spread in spreads)
        print(f"| {name} | {before:.2f} | {now:.2f} | {now / before:.2f} | {told} |", flush=True)
        slower += [name] if now > MOST * before else []
    return 1 if slower else 0


def commands(data: Path) -> dict[str, tuple[str, ...]]:
    """What is run, by the benchmark's name."""
    snapshot = str(data / "openb" / "default_drop20_seed0.json.xz")
    return {
        "make_room": ("--families", "--sizes", "S,M"),
        "empty_nodes": ("--families", "--sizes", "S", "--seeds", "0", "--cpu-clock", "--deadline", "3s"),
        "spread": ("--data", snapshot, "--mark", "0.9", "--deadline", "10s"),
        "reading": ("--alone", "--pods", "60000", "--nodes", "2000"),
        "scheduling": ("--nodes", "1000", "--pods", "30000", "--count", "3000", "--numpy-only"),
    }


def cpu_seconds(checkout: Path, name: str, arguments: tuple[str, ...]) -> float:
    """User and system time of one benchmark, in seconds; of ``reading`` its own count, which leaves the server out."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", *arguments, "-o", str(result)]
        seconds = processor_seconds(command, {**os.environ, "PYTHONPATH": "."}, checkout)
        if name == "reading":
            return float(json.loads(result.read_text())["result"]["cpuSeconds"])
    return seconds


if __name__ == "__main__":
    raise SystemExit(main())
