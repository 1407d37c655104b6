"""How long a newcomer waits: from pip install of the wheel, its packages cached, to the first plan for 100 nodes.

python -m benchmarks.first_plan [--nodes 100] [--objective EmptyNodes]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.reading_data import node_pages, pod_pages

ROOT = Path(__file__).parents[1]
PODS_PER_NODE = 30
SEED = 1


def main() -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--objective", default="EmptyNodes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, recording = built(folder), recorded(folder, given.nodes)
        installed(folder / "first", wheel)  # fills pip's cache
        began = time.monotonic()
        target = installed(folder / "second", wheel)
        ready = time.monotonic()
        plan = planned(target, recording, given.objective)
        ended = time.monotonic()
        weight = sum(file.stat().st_size for file in target.rglob("*") if file.is_file()) / 1e6
    print(f"# {describe_machine()}; seconds of wall time, packages in pip's cache")
    print(f"| virtual environment and pip install | {ready - began:.1f} s, {weight:.0f} MB |")
    print(f"| first plan: {given.nodes} nodes, {plan['snapshot']['pods']} pods | {ended - ready:.1f} s |")
    print(f"| together | {ended - began:.1f} s |")
    return 0


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


def installed(folder: Path, wheel: Path) -> Path:
    """A new virtual environment with the wheel and what it needs, as pip resolves it."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(wheel)], check=True)
    return folder


def planned(folder: Path, recording: list[Path], objective: str) -> dict[str, Any]:
    """The first plan of this environment: nothing has been imported in it before."""
    files = [part for file in recording for part in ("-f", str(file))]
    command = [str(folder / "bin" / "rescheduler"), "plan", "--objective", objective, "-o", "json", *files]
    done = subprocess.run(command, check=True, capture_output=True, cwd=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
