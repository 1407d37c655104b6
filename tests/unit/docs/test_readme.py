"""The README's first screen: the problem, the comparison, what to type, and where to go on."""

from __future__ import annotations

import re

import pytest

from rescheduler.cli.app import COMMANDS, GROUPS_OF_COMMANDS
from tests.unit.docs.pages import DOCS, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST = README.splitlines()[:40]
COMPARED = [
    DOCS.joinpath(name).read_text(encoding="utf-8") for name in ("comparison-with-descheduler.md", "benchmarks.md")
]


def rows(heading: str) -> list[list[str]]:
    """The cells of a table on the first screen, below the row that holds ``heading``."""
    start = next(number for number, line in enumerate(FIRST) if line.startswith("|") and heading in line)
    found = []
    for line in FIRST[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_the_comparison_has_no_figure_that_does_not_stand_in_the_docs() -> None:
    """Row by row as docs/comparison-with-descheduler.md has them, and the command that repeats them is a target."""
    compared = rows("descheduler")
    assert len(compared) >= 3
    for row in compared:
        assert any("| " + " | ".join(row) + " |" in page for page in COMPARED), row
    [target] = re.findall(r"`make (bench-[-a-z]+)` repeats", "\n".join(FIRST))
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_three_commands_stand_there_and_each_exists() -> None:
    """One that needs no cluster, and two that only read one."""
    typed = [line.split("#")[0].split() for line in FIRST if line.startswith("$ ")][:3]
    assert [words[1] for words in typed] == ["make", "rescheduler", "rescheduler"]
    assert {words[2] for words in typed[1:]} <= COMMANDS.keys()


@pytest.mark.parametrize("reader", ["use", "run clusters", "change"])
def test_every_reader_finds_where_to_go_on(reader: str) -> None:
    """Users, operators, contributors: each has pages, and they exist."""
    [where] = [cells[1] for cells in rows("go on with") if reader in cells[0]]
    pages = re.findall(r"\]\(([^)]+)\)", where)
    assert len(pages) >= 3
    assert all((ROOT / page).is_file() for page in pages)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_for_a_checkout_stand_on_the_first_screen(target: str) -> None:
    """``make demo`` and ``make test``."""
    assert f"make {target}" in "\n".join(FIRST)
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_every_command_that_the_readme_shows_exists_and_so_do_the_files_of_the_repository() -> None:
    """A file below docs, policies or deploy that a command names is there."""
    typed = [line.split("#")[0].split() for line in README.splitlines() if line.startswith("$ ")]
    commands = [words[2:] for words in typed if words[1] == "rescheduler"]
    assert len(commands) > 10
    for words in commands:
        assert words[0] in COMMANDS or words[0] in GROUPS_OF_COMMANDS, words
        for word in words:
            if word.startswith(("docs/", "policies/", "deploy/")):
                assert (ROOT / word).exists(), word


def test_a_plan_before_and_after_is_seen_on_the_first_screen() -> None:
    """A picture that the tests make, with words for whoever does not see it."""
    [(words, picture)] = re.findall(r"^!\[([^\]]+)\]\(([^)]+)\)$", "\n".join(FIRST), re.MULTILINE)
    assert "before and after" in words
    assert (ROOT / picture).is_file()


def test_the_figures_beside_karpenter_are_those_of_the_benchmark() -> None:
    """The row of either contender: evictions and machines made."""
    [(ours, theirs, none, made)] = re.findall(
        r"(\d+) evictions against (\d+), (no) machine made against (\d+)", " ".join(FIRST)
    )
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8").replace("*", "")
    assert re.search(rf"^\| 300, .*\| `WhenEmptyOrUnderutilized` .*\| {theirs} \| {made} \|", page, re.MULTILINE)
    assert none == "no"
    assert re.search(rf"\| `apply` beside `WhenEmpty` .*\| {ours} \| 0 \|", page, re.MULTILINE)
