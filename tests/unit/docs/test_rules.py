"""Every rule that a plan may name for a pod that is left alone is told in the docs, with what it leaves alone."""

from __future__ import annotations

import pytest

from rescheduler.disruption.rules import HELPING, MOVING
from tests.unit.docs.pages import DOCS

SAFETY = (DOCS / "safety.md").read_text(encoding="utf-8")
RULES = tuple(dict.fromkeys(rule.name for stage in (*MOVING, *HELPING) for rule in stage.rules))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_somebody_reads_in_a_plan_stands_on_the_page_of_rules(rule: str) -> None:
    """Where `explain` and `questions.md` send whoever wants to know."""
    assert f"`{rule}`" in SAFETY
