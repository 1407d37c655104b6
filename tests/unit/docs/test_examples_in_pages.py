"""Policies and commands that pages show do what the pages say."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from rescheduler.cli.main import main
from rescheduler.daemon.plugins import load_policy
from tests.unit.docs.pages import DOCS, PAGES, ROOT, blocks

POLICIES = [
    (page.name, number, block.text)
    for page in PAGES
    for number, block in enumerate(blocks(page, "yaml"))
    if "kind: ReschedulerPolicy" in block.text
    if page.name != "writing-a-plugin.md"  # names plugins of a package: test_example_plugin.py installs it
]
OFFLINE = ("plan -f", "simulate -f", "explain pod", "check ", "score ", "schedule -f")


def offline_commands() -> list[str]:
    """Commands of the quick start that need no cluster."""
    lines = [line for block in blocks(DOCS / "quick-start.md", "console") for line in block.text.splitlines()]
    commands = [line.removeprefix("$ rescheduler ") for line in lines if line.startswith("$ rescheduler ")]
    return [line for line in commands if line.startswith(OFFLINE) and ("-f " in line or line.startswith("check"))]


@pytest.mark.parametrize(("page", "number", "text"), POLICIES, ids=[f"{page}-{number}" for page, number, _ in POLICIES])
def test_a_policy_that_a_page_shows_is_valid(page: str, number: int, text: str, tmp_path: Path) -> None:
    """Read as a file of one's own would be."""
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    assert load_policy([str(file)]).objectives


def test_the_quick_start_has_commands_that_need_no_cluster() -> None:
    """Otherwise the next test would test nothing."""
    assert len(offline_commands()) >= 5


@pytest.mark.parametrize("command", offline_commands())
def test_a_command_of_the_quick_start_works(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the root of the repository, with an answer on standard output."""
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out
