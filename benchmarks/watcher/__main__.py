"""Benchmark: the load watcher's windows and store at 5,000 nodes x 4 metrics and 150,000 pods x 2 metrics.

``python -m benchmarks.watcher -o RESULT.json`` runs an hour of ticks (generated, no provider) through rings and store,
kills it, and measures the restart; the same samples in a plain SQL table (one row a sample) stand beside it. Each part
runs in a process of its own; seconds are CPU seconds of the best of several runs, unless called wall.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command_line import write_result
from benchmarks.machine import describe_machine

INTERVAL, POD_INTERVAL = 15.0, 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report = _report(options, Path(folder))
    write_result(report, options.output, indent=1)
    return 0


def _report(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    store = folder / "usage.sqlite"
    ours = _measure("watch", store, options.nodes, options.pods, options.seed)
    # Each from a copy: the first restart puts the file in order for the next.
    copies = [
        shutil.copytree(folder, folder / f"copy-{run}", ignore=shutil.ignore_patterns("copy-*")) for run in range(3)
    ]
    runs = [_measure("restart", copy / store.name, options.nodes) for copy in copies]
    restart = min(runs, key=lambda run: float(run["wallSeconds"]))
    plain = {} if options.alone else _measure("plain_table", folder / "plain.sqlite", options.nodes, options.seed)
    tick = sum(ours[f"{name}Median"] for name in ("appendTick", "storeTick", "windows"))
    pod_tick = sum(ours[f"{name}Median"] for name in ("appendPods", "podWindows"))
    share = tick / INTERVAL + pod_tick / POD_INTERVAL
    ratios = {name: round(plain[name] / ours[f"{name}Median"], 1) for name in ("storeTick", "windows") if plain}
    return {
        "instance": f"{options.nodes} nodes x 4 metrics, {options.pods} pods x 2 metrics, seed {options.seed}",
        "seconds": ours["windowsMedian"],
        "peakMegabytes": ours["peakMegabytes"],
        "value": round(share, 4),
        "bound": 1.0,
        "result": {**ours, "cpuShareOfOneCore": round(share, 4), "restart": restart, "plainTable": plain,
                   "plainTableRatios": ratios},
        "machine": describe_machine(),
    }  # fmt: skip


def _measure(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.watcher.measurements", *map(str, arguments)]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    # The one that watches ends by being killed, as a crash would end it.
    if done.returncode not in (0, -9):
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{arguments[0]}: {found}", file=sys.stderr)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watcher", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="where the result is written (default: standard output)")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--folder", type=Path, help="where the files are made (default: the system's temporary folder)")
    parser.add_argument("--alone", action="store_true", help="leave the plain table out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
