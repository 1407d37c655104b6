"""The examples of docs/writing-a-plugin.md work as they stand."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from rescheduler.extension_points import Filter, Score, Trigger
from rescheduler.planning.search.objective_state import ObjectiveState
from tests.unit.docs.pages import DOCS, blocks

PAGE = DOCS / "writing-a-plugin.md"
KINDS = {"A filter": Filter, "A score": Score, "An objective": ObjectiveState, "A trigger": Trigger}


def sections() -> dict[str, list[str]]:
    """The Python of each section, block by block."""
    found: dict[str, list[str]] = defaultdict(list)
    for block in blocks(PAGE, "python"):
        found[block.section].append(block.text)
    return found


def test_there_is_an_example_of_each_kind() -> None:
    """With a test of its own."""
    found = sections()
    assert set(found) == set(KINDS)
    for texts in found.values():
        assert any("def test_" in text for text in texts)


@pytest.mark.parametrize("section", KINDS)
def test_the_example_works(section: str) -> None:
    """Its code is run as it stands, and so are its tests."""
    names: dict[str, Any] = {"__name__": "example"}
    for text in sections()[section]:
        exec(compile(text, f"{PAGE.name}: {section}", "exec", dont_inherit=True), names)
    kinds = [item for item in names.values() if isinstance(item, type) and item.__module__ == "example"]
    assert any(KINDS[section] in item.__mro__ for item in kinds)
    for name, item in names.items():
        if name.startswith("test_"):
            item()
