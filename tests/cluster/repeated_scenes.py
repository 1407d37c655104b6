"""`python -m tests.cluster.repeated_scenes --runs 20 TEST...`: scenes again and again, and how often each was kept."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

RUN = "run_number"


class Run(NamedTuple):
    """One run of one scene. ``seconds``: with setting it up."""

    scene: str
    is_kept: bool
    seconds: float


def pytest_addoption(parser: pytest.Parser) -> None:
    """How often each scene is played."""
    parser.addoption("--runs", type=int, default=1)


@pytest.fixture
def run_number(request: pytest.FixtureRequest) -> int:
    """Which of the runs this is."""
    number: int = request.param
    return number


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every scene once for each run, all scenes before the next run."""
    metafunc.fixturenames.insert(0, RUN)
    runs = range(1, metafunc.config.getoption("--runs") + 1)
    metafunc.parametrize(RUN, runs, indirect=True, ids=[f"run{number}" for number in runs])


def runs_of(report: Path) -> list[Run]:
    """What a report in JUnit's form says; where somebody has ended the runs, the scene of that moment has no name."""
    found = []
    for case in ET.parse(report).getroot().iter("testcase"):
        if "name" not in case.attrib:
            continue
        name, _, parameters = case.attrib["name"].partition("[")
        kept = [part for part in parameters.rstrip("]").split("-") if part and not part.startswith("run")]
        file = case.attrib["classname"].rpartition(".")[2]
        scene = f"{file}::{name}" + (f"[{'-'.join(kept)}]" if kept else "")
        found.append(Run(scene, not case.findall("failure") and not case.findall("error"), float(case.attrib["time"])))
    return found


def table_of(runs: list[Run]) -> list[str]:
    """A row for each scene, in their order."""
    by_scene: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_scene[run.scene].append(run)
    rows = ["| scene | runs | promise kept | seconds, median | longest |", "|---|---|---|---|---|"]
    for scene, found in by_scene.items():
        seconds = [run.seconds for run in found]
        kept = sum(run.is_kept for run in found)
        rows.append(f"| `{scene}` | {len(found)} | {kept} | {statistics.median(seconds):.1f} | {max(seconds):.1f} |")
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Play, and print the table; 1 where a promise was not kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.repeated_scenes", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("tests", nargs="+")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-p", __spec__.name, f"--runs={given.runs}", "-m", "e2e", "-q", "-p", "no:randomly"]
        pytest.main([*options, f"--junitxml={report}", "-o", "junit_duration_report=total", *given.tests])
        runs = runs_of(report)
    print("\n".join(table_of(runs)))
    return 0 if runs and all(run.is_kept for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
