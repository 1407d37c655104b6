"""The help screens, as a newcomer reads them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.unit.cli.conftest import Answer

Shell = Callable[..., Answer]
COMMANDS = [
    "demo",
    "check",
    "policy",
    "doctor",
    "simulate",
    "plan",
    "explain",
    "costs",
    "diff",
    "score",
    "schedule",
    "snapshot",
    "record",
    "backtest",
    "apply",
    "history",
    "clean",
    "run",
    "watcher",
    "ui",
    "fleet",
    "top",
    "ledger",
]


def commands_on(screen: str) -> list[str]:
    """The first words of the list of commands."""
    lines = screen.split("Usage:")[0].splitlines()[1:]
    return [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]


def test_the_first_screen_says_what_it_is_and_lists_commands_in_the_order_of_learning(shell: Shell) -> None:
    """One sentence, then safe commands first and the one that acts last but for tidying up."""
    answer = shell("--help")
    assert answer.code == 0
    assert answer.out.startswith("Move running pods to better nodes, when the gain is worth the disturbance.\n")
    assert commands_on(answer.out) == COMMANDS


def test_without_arguments_the_help_is_wrong_use(shell: Shell) -> None:
    """The screen goes to standard error, for a script that forgot its command."""
    answer = shell()
    assert (answer.code, answer.out) == (2, "")
    assert commands_on(answer.err) == COMMANDS


@pytest.mark.parametrize("command", ["plan", "apply", "simulate", "schedule"])
def test_shared_options_stand_in_groups_with_defaults_and_units(shell: Shell, command: str) -> None:
    """Cluster, Policy, Limits, Output, in this order; each option once."""
    screen = shell(command, "--help").out
    groups = [screen.index(f"\n{name}:") for name in ("Cluster", "Policy", "Limits", "Output", "Options")]
    assert groups == sorted(groups)
    for option in (
        "-f, --filename FILE", "--kubeconfig FILE", "--context NAME", "-n, --namespace NAME", "-l, --selector SELECTOR",
        "--policy FILE", "--objective NAME", "--max-evictions N", "--deadline DURATION", "--seed N",
        "-o, --output FORM", "--exit-code",
    ):  # fmt: skip
        assert screen.count(option) == 1, option
    for default in ("[default: 20]", "[default: 10s]", "[default: 0]", "[default: table]", "[default: all namespaces]"):
        assert default in " ".join(screen.split()), default


@pytest.mark.parametrize("arguments", [("explain",), ("explain", "pod"), ("explain", "node"), ("score",), ("top",)])
def test_what_is_asked_about_is_named(shell: Shell, arguments: tuple[str, ...]) -> None:
    """A missing name is wrong use, and says which name."""
    answer = shell(*arguments)
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "--help" in answer.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_under_both_names(shell: Shell, command: str) -> None:
    """-h and --help say the same, to standard output."""
    short, long = shell(command, "-h"), shell(command, "--help")
    assert short == long
    assert (long.code, long.err) == (0, "")


def test_help_fits_forty_columns_of_ascii() -> None:
    """A narrow terminal in the C locale reads all of it."""
    done = subprocess.run(
        [sys.executable, "-m", "rescheduler", "plan", "--help"],
        capture_output=True,
        env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "40", "PATH": ""},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"--max-evictions N" in done.stdout


def test_help_loads_neither_solver_nor_cluster_client() -> None:
    """The screen is quick because nothing heavy is imported for it."""
    heavy = "{'ortools', 'numpy', 'scipy', 'kubernetes', 'yaml', 'rescheduler.composition'}"
    code = (
        "import sys; from rescheduler.cli.main import main; code = main(['plan', '--help']);"
        f"found = {heavy} & set(sys.modules); assert not found, found; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
