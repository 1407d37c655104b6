"""Documents for scripts: stable, complete, and harmless on a terminal."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.plan.plan import Plan
from rescheduler.report.documents import plan_schema, to_json, to_yaml
from tests.unit.report.plans import objective, small_plan, small_result

# Plans and results satisfy the schema that is published for them.


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


def test_json_has_the_fields_of_the_contract_in_their_order() -> None:
    """apiVersion and kind come first, then the fields as the contract lists them."""
    data = json.loads(to_json(small_plan()))
    assert list(data) == [
        "apiVersion", "kind", "snapshot", "objectives", "moves", "placements", "refusals", "warnings",
    ]  # fmt: skip
    assert data["moves"][0] == {
        "pod": {"namespace": "default", "name": "web-1", "uid": "uid-default-web-1"},
        "fromNode": "n1",
        "toNode": "n2",
        "wave": 1,
        "objective": "MakeRoom",
        "reason": "makes room for default/big-1",
        "needsGuidance": False,
        "method": "Evict",
    }
    assert data["objectives"][0]["status"] == "OPTIMAL"
    assert (data["objectives"][0]["helped"], data["objectives"][0]["wanted"]) == (1, 1)


def test_a_result_carries_an_outcome_for_each_move_and_placement() -> None:
    """Besides what was planned: outcome, landedOn, message."""
    data = json.loads(to_json(small_result()))
    assert data["kind"] == "PlanResult"
    for item in (*data["moves"], *data["placements"]):
        assert {"outcome", "landedOn", "message"} <= item.keys()


def test_yaml_and_json_hold_the_same() -> None:
    """Whoever reads one can read the other."""
    for document in (small_plan(), small_result()):
        assert yaml.safe_load(to_yaml(document)) == json.loads(to_json(document))


def test_equal_plans_give_equal_bytes() -> None:
    """Nothing but the plan decides what is written."""
    assert to_json(small_plan()) == to_json(small_plan())
    assert to_yaml(small_plan()) == to_yaml(small_plan())


@given(st.text())
def test_any_text_survives_and_shows_nothing_but_ascii(text: str) -> None:
    """Names come back as they were, and no control character reaches a terminal."""
    document = small_plan(warnings=(text.encode("utf-8", "replace").decode(),))
    written = to_json(document)
    assert written.replace("\n", "").isprintable()
    assert written.isascii()
    assert msgspec.json.decode(written, type=Plan) == document
    assert to_yaml(document).replace("\n", "").isprintable()
    assert yaml.safe_load(to_yaml(document))["warnings"] == list(document.warnings)
