"""What real plans of the shipped recordings say, they say once."""

from __future__ import annotations

import re

import msgspec
import pytest

from rescheduler.model.plan.plan import Plan
from rescheduler.report.plan.headline import CLAUSES, headlines
from tests.paths import EXAMPLES
from tests.unit.cli.test_examples import document

OBJECTIVES = ("MakeRoom", "EmptyNodes", "SpreadLoad", "FaultDomains", "SeparateAntagonists", "SchedulerScore")


@pytest.mark.parametrize("recording", ["small.json", "infeasible.json"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_no_words_of_the_sentence_come_again_in_the_message_below_it(name: str, recording: str) -> None:
    """Neither what was reached nor any clause of the message stands in both."""
    found = document("plan", "--objective", name, "-f", str(EXAMPLES / recording))
    plan = msgspec.convert(found, Plan)
    (_, sentence), *rest = headlines(plan)
    (reached,) = re.findall(r"^\w+: (.+?)(?:, by| \()", sentence)
    for message in (text for _, text in rest):
        assert reached not in message
        assert not [clause for clause in message.split(CLAUSES) if clause in sentence]
