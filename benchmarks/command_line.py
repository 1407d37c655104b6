"""The options that all planning benchmarks take, and where their results go."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from benchmarks.snapshot_form import InstanceError
from rescheduler.policy.fields.values import parse_positive_duration

Instance = TypeVar("Instance")
Result: TypeAlias = dict[str, Any]


def parser_for(name: str, description: str | None, *, deadline_seconds: float) -> argparse.ArgumentParser:
    """``--data``, ``--deadline``, ``--seed`` and ``-o`` of ``python -m benchmarks.NAME``."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--data", type=Path, required=True, help="one file of the benchmark's form, plain or xz")
    parser.add_argument(
        "--deadline", type=parse_positive_duration, default=deadline_seconds, help="planning time of each plan"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="file for the result (default: standard output)")
    return parser


def answer(options: argparse.Namespace, read: Callable[[Path], Instance], run: Callable[[Instance], Result]) -> int:
    """Read ``--data``, run, write the result; the exit code, 1 for a file that cannot be read."""
    try:
        instance = read(options.data)
    except (InstanceError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    write_result(run(instance), options.output)
    return 0


def write_result(result: Result, output: Path | None, *, indent: int | None = None) -> None:
    """One JSON object, to a file or to standard output."""
    text = json.dumps(result, indent=indent)
    if output is None:
        print(text)
    else:
        output.write_text(text + "\n")
