"""Benchmark: reading 150,000 pods of realistic size and 5,000 nodes, page by page over loopback.

``python -m benchmarks.reading -o RESULT.json`` makes the data and serves it from a process of its own;
``--data PATH`` reads a recording instead. Beside it stand the official client's models on a tenth of the pods, and
``json.loads`` on the same bytes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.command_line import write_result
from benchmarks.machine import describe_machine
from benchmarks.reading.server import served

PAGE = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.data is not None:
        measured = _measure("recording", str(options.data))
        report = _report(options.data.name, measured, {})
    else:
        with served(options.pods, options.nodes, options.seed) as (server, served_bytes):
            measured = _measure("live", server, "0")
            others = {} if options.alone else _beside(server, options.pods)
        others["megabytesServed"] = round(served_bytes / 1e6, 1)
        report = _report(f"{options.pods} pods, {options.nodes} nodes, seed {options.seed}", measured, others)
    write_result(report, options.output)
    return 0


def _beside(server: str, pods: int) -> dict[str, Any]:
    """The yardsticks, each in a process of its own."""
    pages = str(max(1, pods // 10 // PAGE))
    ours, models = _measure("some_pods", server, pages), _measure("official_models", server, pages)
    loads = _measure("json_loads", server, "0")
    return {
        "tenth": ours,
        "officialModelsOnATenth": models,
        "officialModelsRatio": round(models["seconds"] / ours["seconds"], 1),
        "jsonLoadsSeconds": round(loads["seconds"], 3),
        "jsonLoadsCpuSeconds": round(loads["cpuSeconds"], 3),
        "jsonLoadsPeakMegabytes": loads["peakMegabytes"],
    }


def _report(instance: str, measured: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    return {
        "instance": instance,
        "seconds": round(measured["seconds"], 3),
        "peakMegabytes": measured["peakMegabytes"],
        "value": measured["pods"],
        "bound": measured["pods"],
        "result": {"cpuSeconds": round(measured["cpuSeconds"], 3), "pods": measured["pods"],
                   "nodes": measured["nodes"], "specifications": measured["specifications"], **others},
        "machine": describe_machine(),
    }  # fmt: skip


def _measure(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.reading.measurements", *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(f"{arguments[0]}: {found}", file=sys.stderr)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description=__doc__)
    parser.add_argument("--data", type=Path, help="a recording to read instead of the generated cluster")
    parser.add_argument("--deadline", help="accepted for the common form; reading has no deadline")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="where the result is written (default: standard output)")
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--alone", action="store_true", help="leave the yardsticks out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
