"""Benchmarks on open data, run as people run them; without their seconds and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_DEADLINE_SECONDS = 30
_RUNS = (
    ("drain", "bytedance_m3/m3_drop*", ("--nodes", "5")),
    ("fragment_rate", "vmr/medium_drop*", ("--max-moves", "50")),
    ("spread", "bytedance_m3/m3_*", ()),
    ("openb", "openb/default_drop*", ()),
    ("loop", "bytedance_m3/m3_drop*", ("--objective", "EmptyNodes")),
)

_SHARE_THEIR_TIME = frozenset({"openb", "loop"})
"""What splits its deadline between searches, so that which of several equal plans is told hangs on the clock."""


def benchmark_answers(data: Path) -> Iterator[tuple[str, str]]:
    """Name and answer of each run on the files of ``data``."""
    for module, pattern, options in _RUNS:
        for path in sorted(data.glob(pattern)):
            yield f"benchmark-{module}-{path.name.partition('.')[0]}", _answer(module, path, options)


def _answer(module: str, path: Path, options: tuple[str, ...]) -> str:
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        words = ["--data", str(path), "--deadline", f"{_DEADLINE_SECONDS}s", "--seed", "0", "-o", result.name, *options]
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}", *words], check=True)
        found = json.loads(Path(result.name).read_text())
    if found["seconds"] > _DEADLINE_SECONDS / 2:
        return "ENDED BY ITS DEADLINE\n"
    left_out = {"seconds", "peakMegabytes"} | ({"result"} if module in _SHARE_THEIR_TIME else set())
    return json.dumps({key: value for key, value in found.items() if key not in left_out}, indent=1)
