"""Plan files with waves whose pods leave before they arrive: both forms are read, contradictions are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.cli.plan_file import PlanFileError, parse_plan
from rescheduler.report.documents import to_json, to_yaml
from tests.unit.report.exchanges import exchange_plan
from tests.unit.report.plans import small_plan


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
def test_what_plan_writes_is_read_back(write: Any) -> None:
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
