"""How long a newcomer waits: from pip install of the wheel, its packages cached, to the first plan for 100 nodes.

python -m benchmarks.first_plan [--nodes 100] [--objective EmptyNodes] [--no-compile]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchmarks.machine import describe_machine
from benchmarks.reading.data import node_pages, pod_pages

ROOT = Path(__file__).parents[1]
PODS_PER_NODE = 30
SEED = 1
T = TypeVar("T")


class Spent(NamedTuple):
    """Of one step: wall time, and processor time, which tells more where a machine is busy."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} s | {self.processor:.1f} s"


def main() -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--objective", default="EmptyNodes")
    parser.add_argument("--no-compile", action="store_true", help="leave bytecode to the first import, as uv does")
    given = parser.parse_args()
    how = ["--no-compile"] if given.no_compile else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, recording = built(folder), recorded(folder, given.nodes)
        prepared(folder / "first")
        installed(folder / "first", wheel, ["--no-compile"])  # fills pip's cache
        target = folder / "second"
        made, _ = spent(lambda: prepared(target))
        install, _ = spent(lambda: installed(target, wheel, how))
        weight = sum(file.stat().st_size for file in target.rglob("*") if file.is_file()) / 1e6
        first, plan = spent(lambda: planned(target, recording, given.objective))
    together = Spent(install.wall + first.wall, install.processor + first.processor)
    print(f"# {describe_machine()}; packages in pip's cache; wall time | processor time")
    print(f"| virtual environment | {made} |")
    print(f"| pip install {' '.join(how)} ({weight:.0f} MB) | {install} |")
    print(f"| first plan: {given.nodes} nodes, {plan['snapshot']['pods']} pods | {first} |")
    print(f"| from pip install to the first plan | {together} |")
    return 0


def spent(step: Callable[[], T]) -> tuple[Spent, T]:
    """What a step costs, with the processes that it starts, and what it gives."""
    wall, before = time.monotonic(), sum(os.times()[:4])
    found = step()
    return Spent(time.monotonic() - wall, sum(os.times()[:4]) - before), found


def built(folder: Path) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder / "wheel"), "-t", "wheel"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (folder / "wheel").glob("*.whl")
    return wheel


def recorded(folder: Path, nodes: int) -> list[Path]:
    """A cluster as an API server lists it, in files of one page each."""
    pages = [*node_pages(nodes, SEED), *pod_pages(nodes * PODS_PER_NODE, nodes, SEED)]
    files = [folder / f"page-{number}.json" for number in range(len(pages))]
    for file, page in zip(files, pages, strict=True):
        file.write_bytes(page)
    return files


def prepared(folder: Path) -> None:
    """A new virtual environment, with pip."""
    venv.create(folder, with_pip=True)


def installed(folder: Path, wheel: Path, how: Sequence[str]) -> None:
    """The wheel and what it needs, as pip resolves it."""
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *how]
    subprocess.run([*pip, str(wheel)], check=True)


def planned(folder: Path, recording: list[Path], objective: str) -> dict[str, Any]:
    """The first plan of this environment: nothing has been imported in it before."""
    files = [part for file in recording for part in ("-f", str(file))]
    command = [str(folder / "bin" / "rescheduler"), "plan", "--objective", objective, "-o", "json", *files]
    done = subprocess.run(command, check=True, capture_output=True, cwd=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
