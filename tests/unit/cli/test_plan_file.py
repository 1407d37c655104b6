"""A plan read back is the plan that was written; an edited or broken one is refused by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rescheduler.cli.plan_file import PlanFileError, parse_plan, read_plan_file
from rescheduler.report.documents import to_json, to_yaml
from tests.unit.report.plans import objective, small_plan, small_result


def edited(change: str, value: object) -> bytes:
    """The small plan as JSON with the field at ``change`` (moves.0.wave) set."""
    data: Any = json.loads(to_json(small_plan()))
    *above, last = [int(step) if step.isdigit() else step for step in change.split(".")]
    place = data
    for step in above:
        place = place[step]
    place[last] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize("write", [to_json, to_yaml])
def test_what_plan_writes_is_read_back(write: Any) -> None:
    """JSON and YAML, with and without a certificate."""
    for plan in (small_plan(), small_plan(objectives=(objective(certificate={"cpu": {"short": 1}}),))):
        assert parse_plan(write(plan).encode()) == plan


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "empty"),
        (b"\xff", "not UTF-8 at byte 0"),
        (b'{"kind": ', "not JSON"),
        (b"[]", "found a list; wanted a Plan"),
        (b"5", "found 5; wanted a Plan"),
        (b"{}", "apiVersion: found nothing; wanted rescheduler/v1alpha1"),
        (b'{"apiVersion": "rescheduler/v1alpha1", "kind": "Pod"}', "kind: found Pod; wanted Plan"),
        (b'{"a": 1, "a": 2}', "the field a stands twice"),
        (b'{"a": NaN}', "NaN is no number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"a: " + b"[" * 100_000, "nested too deeply"),
        (b"a: &x 1\nb: *x\n", "aliases are not allowed"),
        (b"a: [", "not YAML"),
        (edited("moves.0.wave", "1"), "moves[0].wave: Expected `int`, got `str`"),
        (edited("moves.0.wave", 0), "moves[0].wave: found 0; wanted 1 or more"),
        (edited("moves.0.toNode", "n1"), "moves[0].toNode: the pod is on n1 already"),
        (edited("moves.0.pod.uid", ""), "moves[0].pod.uid: empty"),
        (edited("moves.0.pod.uuid", "x"), "moves[0].pod.uuid: a plan has no such field"),
        (edited("moves.0.force", True), "moves[0].force: a plan has no such field"),
        (edited("objectives.0.status", "GREAT"), "objectives[0].status: Invalid enum value 'GREAT'"),
        (edited("placements.0.wave", 7), "placements[0].wave: found 7; wanted 0 to 1"),
        (edited("moves", None), "moves: Expected `array`"),
        (to_json(small_plan(moves=small_plan().moves * 2)).encode(), "moves[1].pod: default/web-1 stands twice"),
        (to_json(small_result()).encode(), "kind: found PlanResult; wanted Plan"),
    ],
)
def test_edited_and_broken_plans_are_refused_by_field(raw: bytes, text: str) -> None:
    """The message names the field, what was found and what was wanted."""
    with pytest.raises(PlanFileError) as caught:
        parse_plan(raw)
    assert text in str(caught.value)


def test_the_file_is_named(tmp_path: Path) -> None:
    """Missing files and broken ones alike."""
    with pytest.raises(PlanFileError, match=r"missing.json: cannot be read: No such file"):
        read_plan_file(str(tmp_path / "missing.json"))
    (tmp_path / "plan.json").write_bytes(b"{}")
    with pytest.raises(PlanFileError, match=r"plan.json: apiVersion"):
        read_plan_file(str(tmp_path / "plan.json"))


def test_a_plan_for_nodes_that_do_not_exist_is_refused() -> None:
    """It answers a question; one that only asked whether a node could go may be carried out."""
    asked = {"removedNodes": [], "addedNodes": [{"name": "added-1", "allocatable": {"cpu": "4"}, "nodePods": 0}]}
    with pytest.raises(PlanFileError, match="added-1 does not exist, so this plan cannot be carried out"):
        parse_plan(edited("whatIf", asked))
    assert parse_plan(edited("whatIf", {"removedNodes": ["n1"], "addedNodes": []})).what_if
