"""Plans and results satisfy the schema that is published for them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from rescheduler.report.documents import to_json
from rescheduler.report.schema import plan_schema
from tests.unit.report.plans import objective, small_plan, small_result


def validator() -> Any:
    """A validator of plans, its schema itself checked."""
    jsonschema.Draft202012Validator.check_schema(plan_schema())
    return jsonschema.Draft202012Validator(plan_schema())


def test_plans_and_results_are_valid() -> None:
    """With and without moves, a certificate, a value."""
    without = small_plan(objectives=(objective(value=None, bound=None, gap=None, certificate={"cpu": 1}),), moves=())
    for document in (small_plan(), small_result(), without):
        validator().validate(json.loads(to_json(document)))


@pytest.mark.parametrize("field", ["apiVersion", "kind", "snapshot", "objectives", "moves", "placements", "refusals"])
def test_a_plan_without_one_of_its_parts_is_not_valid(field: str) -> None:
    """The parts of the contract are always there, empty ones too."""
    data = json.loads(to_json(small_plan()))
    del data[field]
    assert not validator().is_valid(data)


def test_kinds_and_statuses_are_those_of_the_contract() -> None:
    """Another kind, status or outcome is not valid."""
    plan, result = json.loads(to_json(small_plan())), json.loads(to_json(small_result()))
    plan["objectives"][0]["status"] = "GREAT"
    result["moves"][0]["outcome"] = "Vanished"
    assert not validator().is_valid(plan)
    assert not validator().is_valid(result)
    assert not validator().is_valid({**json.loads(to_json(small_plan())), "kind": "Deployment"})
