"""Second attempts of tests on a real control plane: told with their reason, and not without end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.second_attempts import MOST

FIRST_TIME = """
import pytest
from pathlib import Path

@pytest.mark.parametrize("name", {names})
def test_some(name, request):
    tried = Path(request.config.rootpath) / name
    was_tried = tried.exists()
    tried.touch()
    assert was_tried, "the reason of the first failure"
    assert name != "never"
"""


def run(folder: Path, names: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run tests that fail the first time; the one called never fails the second time as well."""
    (folder / "test_some.py").write_text(FIRST_TIME.format(names=names))
    (folder / "conftest.py").write_text("from tests.second_attempts import pytest_configure\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_XDIST")}
    without = (f"-pno:{name}" for name in ("randomly", "cacheprovider", "hypothesispytest", "schemathesis"))
    command = [sys.executable, "-m", "pytest", *without, *options, "."]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_first_failure_is_told_though_the_second_attempt_passes(tmp_path: Path, workers: str) -> None:
    """The run passes; its end holds the reason, also where other processes run the tests."""
    found = run(tmp_path, ["one"], "--reruns=1", f"-n{workers}")
    assert found.returncode == 0, found.stdout
    assert f"second attempts: 1 (a run may need {MOST})" in found.stdout
    assert "the reason of the first failure" in found.stdout


def test_more_than_a_few_second_attempts_fail_the_run(tmp_path: Path) -> None:
    """Though every test has passed in the end."""
    found = run(tmp_path, [f"some-{number}" for number in range(MOST + 1)], "--reruns=1")
    assert f"{MOST + 1} passed" in found.stdout
    assert found.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    """There is no third attempt."""
    found = run(tmp_path, ["one", "never"], "--reruns=1")
    assert "1 failed" in found.stdout
    assert found.returncode == pytest.ExitCode.TESTS_FAILED


def test_without_the_option_nothing_is_tried_again(tmp_path: Path) -> None:
    """Fast tests and the simulation get one attempt."""
    found = run(tmp_path, ["one"])
    assert found.returncode == pytest.ExitCode.TESTS_FAILED
    assert "second attempts" not in found.stdout
