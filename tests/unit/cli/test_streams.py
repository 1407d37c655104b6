"""Progress and colour are for people at a terminal, and for nobody else."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys

import pytest

SILENCE_SECONDS = 120
CODE = """
import sys
from rescheduler.composition.live import cluster_source, ledgers
from rescheduler import cycle
from rescheduler.cli.main import main
from rescheduler.extension_points import NOTHING_EARLIER
from tests.unit.report.plans import small_cluster, small_plan
def read(options, progress):
    progress("reading pods", 1, 2)
    return small_cluster()
cluster_source.read_cluster = read
ledgers.earlier_evictions = lambda *given: NOTHING_EARLIER
cycle.make_plan = lambda *given: small_plan()
sys.exit(main(["plan"]))
"""


def on_a_terminal(stream: str, **environment: str) -> bytes:
    """What reaches a terminal that is standard output or standard error of ``plan``."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=subprocess.DEVNULL,
        stdout=follower if stream == "stdout" else subprocess.DEVNULL,
        stderr=follower if stream == "stderr" else subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    )
    os.close(follower)
    seen = b""
    while True:
        if not select.select([leader], [], [], SILENCE_SECONDS)[0]:  # a read would wait for ever
            process.kill()
            pytest.fail(f"silent for {SILENCE_SECONDS} s after {seen!r}")
        try:
            piece = os.read(leader, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(leader)
    assert process.wait(timeout=60) == 0
    return seen


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets decides about colour."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_a_person_sees_progress_and_colour() -> None:
    """Progress on standard error, colour on standard output."""
    assert b"reading pods" in on_a_terminal("stderr")
    assert b"\x1b[32mOPTIMAL" in on_a_terminal("stdout")


def test_no_color_means_neither() -> None:
    """NO_COLOR leaves plain text, and no progress."""
    assert on_a_terminal("stderr", NO_COLOR="1") == b""
    assert b"\x1b[32m" not in on_a_terminal("stdout", NO_COLOR="1")
    assert b"OPTIMAL" in on_a_terminal("stdout", NO_COLOR="1")


def test_off_a_terminal_there_is_neither_even_if_colour_is_forced() -> None:
    """A pipe gets data alone."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, env={**os.environ, "FORCE_COLOR": "1"}, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout


def test_closed_streams_are_no_fault() -> None:
    """A shell may close standard output and standard error altogether."""
    command = f"exec {sys.executable} -m rescheduler check policies/pending-only.yaml >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], timeout=60).returncode == 0
