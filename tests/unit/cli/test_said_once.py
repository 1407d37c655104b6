"""What real plans of the shipped recordings say, they say once."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from rescheduler.model.plan.plan import Plan
from rescheduler.report.plan.headline import CLAUSES, headlines
from tests.paths import EXAMPLES
from tests.unit.adapters.api_objects import pod_object
from tests.unit.cli.conftest import Answer
from tests.unit.cli.desk import NODES, Desk

OBJECTIVES = ("MakeRoom", "EmptyNodes", "SpreadLoad", "FaultDomains", "SeparateAntagonists", "SchedulerScore")


@pytest.mark.parametrize("recording", ["small.json", "infeasible.json"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_no_words_of_the_sentence_come_again_in_the_message_below_it(
    shell: Callable[..., Answer], name: str, recording: str
) -> None:
    """Neither what was reached nor any clause of the message stands in both."""
    answer = shell("plan", "--objective", name, "-f", str(EXAMPLES / recording), "-o", "json")
    assert answer.code == 0, answer.err
    plan = msgspec.json.decode(answer.out, type=Plan)
    (_, sentence), *rest = headlines(plan)
    (reached,) = re.findall(r"^\w+: (.+?)(?:, by| \()", sentence)
    for message in (text for _, text in rest):
        assert reached not in message
        assert not [clause for clause in message.split(CLAUSES) if clause in sentence]


def test_a_missing_claim_is_named_once_for_each_node_and_once_above(desk: Desk) -> None:
    """Three filters miss it; the plan's own words about this pod only repeat the count."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}
    desk.record(*NODES, pod_object("p", None, volumes=[volume]))
    desk.policy("")
    missing = 'persistentvolumeclaim "gone" not found'
    told = desk.document("explain", "pod", "default/p")
    assert {tuple(node["reasons"]) for node in told["nodes"]} == {(missing,)}
    assert told["message"].count(missing) == 1
    assert "the plan says: 0 of 1 pending pod gets a place" in told["message"]
