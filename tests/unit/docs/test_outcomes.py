"""The words in which moves end stand in the docs, each with what it means."""

from __future__ import annotations

import re

from rescheduler.model.plan.plan import OutcomeKind
from tests.unit.docs.pages import DOCS


def test_every_outcome_has_a_row() -> None:
    """In one table, and no word there that no move can end in."""
    text = (DOCS / "how-it-decides.md").read_text(encoding="utf-8").split("| outcome |")[1]
    told = re.findall(r"^\| (\w+) \| \w", text, re.MULTILINE)
    assert told == [outcome.value for outcome in OutcomeKind]
