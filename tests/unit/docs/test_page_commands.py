"""Each command that README and docs show is run as it stands, and answers what the page shows."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.paths import EXAMPLES, ROOT
from tests.unit.cli.conftest import Answer, shell
from tests.unit.docs.page_commands import (
    RULES,
    Command,
    Way,
    commands,
    on_recording,
    prepared,
    rule_of,
    written,
)

__all__ = ["shell"]
ALL = commands()
RUN = [one for one in ALL if (rule := rule_of(one)) and rule.way in (Way.AS_IT_STANDS, Way.ON_THE_RECORDING)]
FOR_A_SHELL = frozenset("|<>&;$*`")
SECONDS = re.compile(r"\d+(\.\d+)? s\b")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Files that pages made by earlier commands: plans of the recording, and recordings."""
    folder = tmp_path_factory.mktemp("given")
    prepared(folder)
    plan = in_a_shell("rescheduler plan -o json -f docs/examples/small.json", folder).out.encode()
    recording = (EXAMPLES / "small.json").read_bytes()
    plans = dict.fromkeys(("plan.json", "before.json", "after.json", "monday.json", "tuesday.json"), plan)
    return plans | {"cluster.json": recording, "recording.json.gz": gzip.compress(recording)}


def in_a_shell(command: str, folder: Path) -> Answer:
    """As a person types it, with nobody at a terminal."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def run(tmp_path: Path, shell: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Answer]:
    """In this process where a shell does nothing but start the program: that takes longer than most commands."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run_one(command: str) -> Answer:
        program, *arguments = shlex.split(command)
        needs_a_shell = FOR_A_SHELL & {*command} or program != "rescheduler"
        return in_a_shell(command, tmp_path) if needs_a_shell else shell(*arguments)

    return run_one


def test_every_command_is_classed() -> None:
    """And there are many; a new kind of command needs a rule."""
    assert [one for one in ALL if rule_of(one) is None] == []
    assert len(RUN) > 30
    assert {one.page for one in RUN} >= {"README.md", "quick-start.md", "policies.md", "autoscaling.md"}


def test_what_is_not_run_has_a_reason_and_the_tests_that_it_names_exist() -> None:
    """A rule that fits no command any more is taken out."""
    for rule in RULES:
        assert (rule.way is Way.NOT_HERE) == bool(rule.why), rule.begins
        assert any(rule.fits(one) for one in ALL), rule.begins
        folder = "tests/unit/docs"
        for name in re.findall(r"[\w/]*test_\w+\.py", rule.why):
            folder = name.rpartition("/")[0] or folder
            assert (ROOT / folder / name.rpartition("/")[2]).exists(), rule.why


@pytest.mark.parametrize("command", RUN, ids=[f"{one.page}: {one.bare}" for one in RUN])
def test_a_command_of_a_page_works_and_answers_as_shown(
    command: Command, given: dict[str, bytes], run: Callable[[str], Answer], tmp_path: Path
) -> None:
    """It exits with 0, writes what it names, and prints the lines that the page shows, in their order."""
    prepared(tmp_path)
    for name, content in given.items():
        (tmp_path / name).write_bytes(content)
    for name in written(command.bare):
        (tmp_path / name).unlink(missing_ok=True)
    rule = rule_of(command)
    is_live = rule is not None and rule.way is Way.ON_THE_RECORDING
    text = on_recording(command.bare) if is_live else command.bare
    if command.shown and text.startswith("rescheduler plan"):
        text += " --deadline 10m"  # what is proven in a moment is proven on a busy machine too
    done = run(text)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    for name in written(command.bare):
        assert (tmp_path / name).stat().st_size > 0
    assert done.out or written(command.bare) or "; " in command.bare
    assert missing(command.shown, done.out) == []


def missing(shown: tuple[str, ...], answer: str) -> list[str]:
    """Lines of a page that do not stand in the answer, in this order; ``...`` stands for any lines, times differ."""
    lines = iter([SECONDS.sub("N s", line.rstrip()) for line in answer.splitlines()])
    wanted = [SECONDS.sub("N s", line.rstrip()) for line in shown if line.strip() not in ("", "...")]
    return [line for line in wanted if not any(line == told for told in lines)]


def test_the_test_would_notice() -> None:
    """A line that is not there, one in the wrong order; not a time, and not what is left out."""
    assert missing(("a", "...", "c (0.5 s)"), "a\nb\nc (12 s)\n") == []
    assert missing(("b", "a"), "a\nb\n") == ["a"]
    assert missing(("x",), "a\n") == ["x"]
    two = on_recording("rescheduler plan -o json > a.json; rescheduler plan > b")
    assert two.count("-f docs/examples/small.json") == 2
    assert two.startswith("rescheduler plan -o json -f docs/examples/small.json > a.json; ")
