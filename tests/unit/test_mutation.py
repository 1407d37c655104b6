"""Tests of the tool that puts faults into modules: none of them is lost, and those that are none are real."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.mutants import faults, mutants
from tests.mutation.rooms import ROOMS
from tests.mutation.swapping import NotSwappableError, swap
from tests.paths import ROOT

TEXT = """
LIMIT = 3

class Door:
    @property
    def is_open(self):
        return self.way > 0

def doubled(number, by=2):
    return number * by
"""


@pytest.fixture
def module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that is imported already, and of which others hold functions."""
    path = tmp_path / "faulty.py"
    path.write_text(TEXT)
    made = ModuleType("faulty")
    made.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "faulty", made)
    exec(compile(TEXT, "faulty", "exec"), vars(made))
    return made


def test_whoever_holds_a_function_already_has_the_faulty_one(module: ModuleType) -> None:
    """Methods and properties too."""
    doubled, door = module.doubled, module.Door()
    door.way = 0
    swap("faulty", TEXT.replace("number * by", "number / by").replace("> 0", ">= 0"))
    assert doubled(4) == 2
    assert door.is_open


@pytest.mark.parametrize("change", [("LIMIT = 3", "LIMIT = 4"), ("by=2", "by=3"), ("class Door", "class Gate")])
def test_what_only_a_new_import_brings_into_force_is_refused(module: ModuleType, change: tuple[str, str]) -> None:
    """So that it is imported anew, and no fault counts as missed that never was there."""
    with pytest.raises(NotSwappableError):
        swap("faulty", TEXT.replace(*change))
    assert module.doubled(4) == 8


@pytest.mark.parametrize(
    ("room", "module", "known"),
    [(room, name, what) for room, modules in EQUIVALENT.items() for name, found in modules.items() for what in found],
)
def test_faults_that_are_none_are_still_made(room: str, module: str, known: str) -> None:
    """A reason for what is not there any more has to go, and one reason excuses no second fault that reads alike."""
    text = (ROOT / ROOMS[room].path / f"{module}.py").read_text(encoding="utf-8")
    assert [what.partition(": ")[2] for what in faults(text)].count(known) == 1


def test_what_is_told_of_faults_is_told_without_making_them() -> None:
    """The same, in the same order."""
    assert faults(TEXT) == [mutant.what for mutant in mutants(TEXT)]


def test_a_constant_is_told_with_what_stands_around_it() -> None:
    """One number or ``True`` of a module is not another."""
    told = [mutant.what for mutant in mutants("def f(a):\n    return sorted(a, reverse=True)[0]")]
    assert told == [
        "line 2: returns None: return sorted(a, reverse=True)[0]",
        "line 2: to 1: sorted(a, reverse=True)[0]",
        "line 2: to False: sorted(a, reverse=True)",
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_of_a_room_that_can_be_wrong_is_judged(room: str) -> None:
    """One that was moved, or is new, is not left out without a word; one that is gone is not asked for in vain."""
    assert set(ROOMS[room].that_can_be_wrong) == set(ROOMS[room].judged)


@pytest.mark.parametrize("room", ROOMS)
def test_the_tests_that_are_asked_first_are_there(room: str) -> None:
    """A name that fits no file would let all faults of its module count as missed, or none be looked for."""
    named = {file for files in ROOMS[room].judged.values() for file in files}
    assert [file for file in sorted(named) if not (ROOT / ROOMS[room].tests / f"{file}.py").is_file()] == []
