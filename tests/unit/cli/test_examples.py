"""The commands that the README shows, run as a newcomer runs them, on the examples that are shipped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paths import EXAMPLES, ROOT

SMALL = str(EXAMPLES / "small.json")
PLAN = ("plan", "--deadline", "10m", "-f")  # what is proven in a moment is proven on a busy machine too
RECORDINGS = ("chain.yaml", "infeasible.json", "small.json")


def run(*arguments: str, given: bytes | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """One process, with nobody at a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "rescheduler", *arguments],
        input=given if given is not None else b"",
        capture_output=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "120", **environment},
    )


def document(*arguments: str, given: bytes | None = None) -> Any:
    """The JSON that a command which goes well prints."""
    done = run(*arguments, "-o", "json", given=given)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_plan_proposes_the_fewest_moves_for_the_small_example() -> None:
    """The first command of the README: every pending pod helped, proven, nothing on standard error."""
    done = run(*PLAN, SMALL)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"OPTIMAL  MakeRoom: ")
    assert b"\nMoves\n" in done.stdout
    assert b"\x1b" not in done.stdout


def test_simulate_carries_the_shipped_policy_out() -> None:
    """The second command of the README: every move and placement lands."""
    result = document("simulate", "--policy", "policies/pending-only.yaml", "-f", SMALL)
    outcomes = {item["outcome"] for item in result["moves"] + result["placements"]}
    assert outcomes == {"Landed"}


def test_a_recording_may_come_from_standard_input() -> None:
    """The same cluster gives the same moves."""
    piped = document(*PLAN, "-", given=Path(SMALL).read_bytes())
    assert piped["moves"] == document(*PLAN, SMALL)["moves"]


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_example_has_an_answer(name: str) -> None:
    """An answer that nothing helps is one too, and comes with its reason."""
    plan = document(*PLAN, str(EXAMPLES / name))
    (objective,) = plan["objectives"]
    is_infeasible = name.startswith("infeasible")
    assert objective["status"] == ("INFEASIBLE" if is_infeasible else "OPTIMAL")
    assert bool(plan["moves"]) is not is_infeasible
    assert objective["message"] if is_infeasible else objective["helped"] == objective["wanted"]


def test_an_ascii_locale_reads_all_of_it() -> None:
    """No locale keeps anybody from the plan."""
    done = run("plan", "-f", SMALL, LC_ALL="C", PYTHONIOENCODING="ascii", COLUMNS="40")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert max(map(len, done.stdout.decode().splitlines())) <= 40


@pytest.mark.parametrize("given", [b"", b'{"kind": "List", "items": [', b'{"kind": "Deployment"}', b"NAME   READY\n"])
def test_input_that_is_no_recording_fails_with_one_paragraph(given: bytes) -> None:
    """Exit 1, the source is named; nothing on standard output, no traceback."""
    done = run("plan", "-f", "-", given=given)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: standard input")
    assert done.stderr.count(b"\n") == 1


def test_without_a_cluster_the_paragraph_says_what_is_missing(tmp_path: Path) -> None:
    """No kubeconfig: exit 1, and the file that was looked for."""
    done = run("plan", "--kubeconfig", str(tmp_path / "missing"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"missing" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_policy_of_several_schedulers_names_every_form_that_is_shipped() -> None:
    """It is valid with the files that it names, each of the six schedulers is told of, and a plan goes by it."""
    policy = str(EXAMPLES / "schedulers.yaml")
    done = run("check", policy)
    assert done.returncode == 0
    told = done.stdout.decode()
    for name in ("default-scheduler", "packing", "by-load", "volcano", "old-scheduler", "second-scheduler"):
        assert f"cheduler {name} (" in told
    assert document(*PLAN, SMALL, "--policy", policy)["objectives"][0]["status"] == "OPTIMAL"
