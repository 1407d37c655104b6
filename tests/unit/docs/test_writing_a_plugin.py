"""The examples of docs/writing-a-plugin.md work as they stand."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from rescheduler.planning.search.objective_state import ObjectiveState
from tests.paths import ROOT
from tests.unit.docs.pages import DOCS, blocks

PAGE = DOCS / "writing-a-plugin.md"
PACKAGE = DOCS / "examples" / "plugin"
FILES = {
    "In a package of your own, or in the tree": ["policy.yaml", "scheduler.yaml"],
    "A filter": ["example_plugins/node_team.py", "tests/test_node_team.py"],
    "A score": ["example_plugins/young_node.py", "tests/test_young_node.py"],
    "A trigger": ["example_plugins/namespace_grew.py", "tests/test_namespace_grew.py"],
    "A metrics provider": ["example_plugins/csv_use.py", "tests/test_csv_use.py"],
}


def texts(section: str) -> list[str]:
    """The Python and YAML of a section, block by block."""
    found = [*blocks(PAGE, "python"), *blocks(PAGE, "yaml")]
    return [block.text for block in found if block.section == section]


@pytest.mark.parametrize("section", FILES)
def test_the_page_shows_the_package_as_it_is(section: str) -> None:
    """Its files are linted, typed and run; the page has each of them word for word."""
    assert texts(section) == [(PACKAGE / name).read_text(encoding="utf-8") for name in FILES[section]]


def test_the_page_shows_what_the_package_brings() -> None:
    """The entry points, as its project file has them."""
    (block,) = blocks(PAGE, "toml")
    assert block.text in (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")


def test_the_objective_works() -> None:
    """Its code is run as it stands, and so are its tests."""
    names: dict[str, Any] = {"__name__": "example"}
    for text in texts("An objective"):
        exec(compile(text, f"{PAGE.name}: An objective", "exec", dont_inherit=True), names)
    kinds = [item for item in names.values() if isinstance(item, type) and item.__module__ == "example"]
    assert any(ObjectiveState in item.__mro__ for item in kinds)
    tests = [item for name, item in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


@pytest.mark.parametrize("number", [0, 1])
def test_the_objective_passes_the_linter(number: int) -> None:
    """But for names of the block before, and a docstring of the file that it would stand in."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "-q",
        "--ignore",
        "D100,F821",
        "--stdin-filename",
        "tests/page.py",
    ]
    text = texts("An objective")[number]
    ran = subprocess.run([*command, "-"], input=text, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout
