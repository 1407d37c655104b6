"""Waves whose pods leave before they arrive are told as what they are, in every form of report."""

from __future__ import annotations

import json

import jsonschema
import pytest
from msgspec.structs import replace

from rescheduler.report.documents import plan_schema, to_data, to_json
from rescheduler.report.explanation import Explanation, explanation_report
from rescheduler.report.html import plan_page
from rescheduler.report.html.walk import steps_of
from rescheduler.report.plan.flows import flows_of
from rescheduler.report.plan.table import plan_report
from tests.unit.report.exchanges import exchange_plan
from tests.unit.report.html.parsed import Page
from tests.unit.report.plans import small_cluster, small_plan
from tests.unit.report.rendering import rendered


@pytest.mark.parametrize("wide", [False, True])
def test_the_table_says_which_pods_are_down(wide: bool) -> None:
    """In the price, and beside each of the moves; ordinary plans say nothing of it."""
    text = rendered(plan_report(exchange_plan(), wide=wide), width=300)
    assert "the pods of wave 2 leave before they arrive" in text
    assert text.count("leaves before it arrives") == 2
    ordinary = rendered(plan_report(small_plan(), wide=wide), width=300)
    assert "before" not in ordinary


def test_many_moves_are_counted_by_wave_with_its_mark() -> None:
    """A line for each wave says it."""
    plan = exchange_plan()
    many = tuple(replace(plan.moves[1], pod=replace(plan.moves[1].pod, name=f"p{number}")) for number in range(90))
    text = rendered(plan_report(replace(plan, moves=(plan.moves[0], *many))), width=300)
    assert "2, pods leave before they arrive" in text


def test_the_page_says_it_too() -> None:
    """Below the figures, in the list of moves, and on the step."""
    text = Page(plan_page(exchange_plan(), small_cluster())).text
    assert "The pods of wave 2 leave before they arrive" in text
    assert text.count("leaves before it arrives, like all pods of its wave") == 2
    assert "Wave 2: pods leave before they arrive" in text


def test_a_step_of_many_waves_names_the_one() -> None:
    """Where several waves share a step the label says which of them it is."""
    flows = flows_of(exchange_plan())
    spread = [flow._replace(wave=number, leaves_first=number == 4) for number, flow in enumerate(flows * 30, 1)]
    labels = [step.label for step in steps_of(spread)]
    assert [label for label in labels if "leave before" in label] == [
        "Waves 4 to 6: in wave 4 pods leave before they arrive"
    ]


def test_an_explanation_says_it() -> None:
    """Beside the reason of the move."""
    plan = exchange_plan()
    text = rendered(explanation_report(Explanation("Moves", "moves", pod=plan.moves[1].pod, moves=plan.moves[1:2])))
    assert "leaves before it arrives" in text


def test_the_documents_have_the_marks_and_only_where_they_are_true() -> None:
    """``waves`` lists the marked ones, and satisfies the published schema; other plans have neither."""
    data = json.loads(to_json(exchange_plan()))
    jsonschema.Draft202012Validator(plan_schema()).validate(data)
    assert data["waves"] == [{"wave": 2, "evictFirst": True}]
    assert [move.get("evictFirst") for move in data["moves"]] == [None, True, True]
    ordinary = to_data(small_plan())
    assert "waves" not in ordinary
    assert "evictFirst" not in ordinary["moves"][0]
