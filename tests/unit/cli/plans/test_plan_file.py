"""A plan read back is the plan that was written; an edited or broken one is refused by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rescheduler.cli.plans.plan_file import PlanFileError, parse_plan, read_plan_file
from rescheduler.report.documents import to_json, to_yaml
from tests.unit.report.exchanges import exchange_plan
from tests.unit.report.plans import objective, small_plan, small_result

# Plan files with waves whose pods leave before they arrive: both forms are read, contradictions are refused.


def file(waves: Any = None, marks: dict[int, bool | None] | None = None, **fields: Any) -> bytes:
    """The plan as JSON with this list of waves (None: none) and these marks of moves (None: none)."""
    data = json.loads(to_json(exchange_plan()))
    del data["waves"]
    if waves is not None:
        data["waves"] = waves
    for number, mark in (marks or {}).items():
        data["moves"][number].pop("evictFirst", None)
        data["moves"][number].update(fields)
        if mark is not None:
            data["moves"][number]["evictFirst"] = mark
    return json.dumps(data).encode()


LISTED = [{"wave": 2, "evictFirst": True}]
UNMARKED = {1: None, 2: None}


@pytest.mark.parametrize("write", [to_json, to_yaml])
def test_marked_waves_that_plan_writes_are_read_back(write: Any) -> None:
    """With both marks."""
    assert parse_plan(write(exchange_plan()).encode()) == exchange_plan()


@pytest.mark.parametrize(
    "raw",
    [
        file(),
        file(LISTED),
        file(LISTED, UNMARKED),
        file(LISTED, {1: True, 2: None}),
        file([*LISTED, {"wave": 1, "evictFirst": False}], {0: False}),
        file(LISTED, UNMARKED, needsGuidance=False),
    ],
    ids=["on moves", "both", "on the wave", "on the wave and one move", "the other wave too", "guidance not told"],
)
def test_either_form_marks_the_whole_wave(raw: bytes) -> None:
    """However it was written, moves and list agree afterwards, and all moves of the wave need guidance."""
    assert parse_plan(raw) == exchange_plan()


@pytest.mark.parametrize(
    "raw", [file(None, UNMARKED), file([], UNMARKED), file([{"wave": 2, "evictFirst": False}], UNMARKED)]
)
def test_without_a_mark_a_wave_is_ordinary(raw: bytes) -> None:
    """A mark that says no is none."""
    plan = parse_plan(raw)
    assert not any(move.evict_first for move in plan.moves)
    assert b"evictFirst" not in to_json(plan).encode()


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (file(None, {2: None}), "moves[2].evictFirst: found false; wanted true as in moves[1] of the same wave"),
        (file(LISTED, {2: False}), "moves[2].evictFirst: found false; the list of waves says true of wave 2"),
        (
            file([{"wave": 2, "evictFirst": False}]),
            "moves[1].evictFirst: found true; the list of waves says false of wave 2",
        ),
        (file([*LISTED, *LISTED]), "waves[1].wave: wave 2 stands twice"),
        (file([*LISTED, {"wave": 9, "evictFirst": True}]), "waves[1].wave: found 9, and no move is in that wave"),
        (file([{"wave": 2}]), "waves[0]: Object missing required field `evictFirst`"),
        (file([{"wave": 2, "evictFirst": "yes"}]), "waves[0].evictFirst: Expected `bool`, got `str`"),
        (file([{"wave": 2, "evictFirst": True, "force": 1}]), "waves[0].force: a plan has no such field"),
        (file({"2": True}), "waves: Expected `array"),
        (file(None, {1: 1}), "moves[1].evictFirst: Expected `bool`, got `int`"),  # type: ignore[dict-item]
    ],
)
def test_contradictions_are_refused_with_the_field(raw: bytes, text: str) -> None:
    """What was found, what was wanted, and where."""
    with pytest.raises(PlanFileError) as refused:
        parse_plan(raw)
    assert text in str(refused.value)


def test_ordinary_plans_are_read_as_before() -> None:
    """Without any marks."""
    assert parse_plan(to_json(small_plan()).encode()) == small_plan()


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


MACHINE: dict[str, Any] = {
    "name": "added-1", "allocatable": {"cpu": "4", "memory": "8Gi"}, "nodePods": 0, "instanceType": "small",
}  # fmt: skip
CHOSEN = {"oldCost": 9.0, "newCost": 1.0, "leastCost": 1.0, "oldPrices": {"n1": 9.0}}


def with_machines(*machines: dict[str, Any], **more: Any) -> bytes:
    """A plan file that names machines."""
    asked = {"removedNodes": ["n1"], "addedNodes": list(machines), "replacement": CHOSEN, **more}
    return edited("whatIf", {name: value for name, value in asked.items() if value is not None})


def test_machines_that_replace_nodes_may_be_made_first() -> None:
    """Only where somebody wants that, and only those that were chosen to replace others."""
    assert parse_plan(with_machines(MACHINE), buys=True).what_if
    with pytest.raises(PlanFileError, match="apply --plan FILE --buy has it made first"):
        parse_plan(with_machines(MACHINE))
    with pytest.raises(PlanFileError, match="plan again without --add-node"):
        parse_plan(with_machines(MACHINE, replacement=None), buys=True)


@pytest.mark.parametrize(
    ("machines", "told"),
    [
        ([MACHINE, MACHINE], r"addedNodes\[1\].name: added-1 stands twice"),
        ([{key: value for key, value in MACHINE.items() if key != "instanceType"}], "instanceType: missing"),
        ([{**MACHINE, "instanceType": ""}], "instanceType: missing"),
        ([{**MACHINE, "allocatable": {"cpu": "4"}}], "allocatable: wanted cpu and memory at least"),
        ([{**MACHINE, "allocatable": {"cpu": "much", "memory": "8Gi"}}], "allocatable.cpu: "),
    ],
)
def test_a_machine_that_nobody_could_be_asked_for_is_refused(machines: list[dict[str, Any]], told: str) -> None:
    """By field, before anything is read."""
    with pytest.raises(PlanFileError, match=told):
        parse_plan(with_machines(*machines), buys=True)
