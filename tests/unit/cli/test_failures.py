"""Whatever goes wrong ends in one paragraph and an exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from rescheduler.extension_points import ExecutionInterruptedError
from tests.unit.cli.conftest import Answer, World
from tests.unit.report.plans import HOSTILE, small_result

Shell = Callable[..., Answer]


def test_a_fault_of_our_own_is_no_traceback(world: World, shell: Shell) -> None:
    """The type, the text, and how to see more; exit 1."""
    world.error = ZeroDivisionError("division\nby zero")
    answer = shell("plan")
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1)
    assert "ZeroDivisionError: division by zero" in answer.err
    assert "RESCHEDULER_TRACEBACK=1" in answer.err


def test_the_traceback_is_there_for_who_asks(world: World, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable set the error comes through."""
    world.error = ZeroDivisionError()
    monkeypatch.setattr("rescheduler.cli.failures.TRACEBACK_VARIABLE", "PATH")
    with pytest.raises(ZeroDivisionError):
        shell("plan")


def test_an_interrupted_simulation_is_an_interruption(world: World, shell: Shell) -> None:
    """However the executor tells of it."""
    world.error = ExecutionInterruptedError("interrupted", small_result())
    assert shell("simulate") == Answer(130, "", "interrupted\n")


def test_errors_of_the_system_are_told_in_its_words(world: World, shell: Shell) -> None:
    """A disk that is full, say."""
    world.error = OSError(28, "No space left on device", "x.json")
    assert shell("plan").err == "error: x.json: No space left on device\n"
    world.error = MemoryError()
    assert "not enough memory" in shell("plan").err


def test_errors_cannot_play_with_the_terminal(world: World, shell: Shell) -> None:
    """Names in messages are escaped as everywhere."""
    world.error = ValueError(HOSTILE)
    answer = shell("plan", "--seed", HOSTILE)
    assert answer.err.rstrip("\n").isprintable()
    assert shell("plan").err.rstrip("\n").isprintable()


def run(code: str, **options: object) -> subprocess.Popen[bytes]:
    """A process that runs the command line with some of it replaced.

    It does not go by what whoever runs the tests has made of SIGHUP (nohup ignores it).
    """
    program = (
        "import signal, sys, time\nfrom rescheduler.composition.live import cluster_source\n"
        "from rescheduler.cli.main import main\n"
        f"signal.signal(signal.SIGHUP, signal.SIG_DFL)\n{code}"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,  # type: ignore[call-overload, no-any-return]
    )


def test_a_reader_who_has_gone_is_no_error() -> None:
    """A closed pipe is quiet, and the exit code is the command's own."""
    process = run("sys.stdin.read(); sys.exit(main(['check', 'policies/pending-only.yaml']))", stdin=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, errors = process.communicate(b"", timeout=60)
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_command_quietly(number: signal.Signals) -> None:
    """Ctrl-C, a polite kill and a closed terminal are all an interruption: 130."""
    code = (
        "def read(options, progress):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "cluster_source.read_cluster = read\nsys.exit(main(['plan']))"
    )
    process = run(code)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"interrupted\n")


def test_a_watcher_that_is_terminated_before_it_listens_has_not_failed() -> None:
    """A cluster that stops what it has just started wants no failure told, however early it does."""
    code = (
        "from rescheduler.daemon import plugins\n"
        "def read(files):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "plugins.load_policy = read\nsys.exit(main(['watcher']))"
    )
    process = run(code)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.kill(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"stopped\n")


def test_signals_are_handled_as_before_once_a_command_has_ended(shell: Shell) -> None:
    """Whoever runs a command within a program of its own keeps its signals."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    shell("watcher")
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)] == before
