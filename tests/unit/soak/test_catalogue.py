"""The list of checkers is whole, and its report is readable."""

from __future__ import annotations

from pathlib import Path

from tests.soak.invariants import catalogue
from tests.soak.invariants.checker import Checker
from tests.soak.trace import Violation

ABSTRACT = {"UnsettledChecker"}
FORBIDDEN = ("rescheduler.disruption", "rescheduler.checker", "rescheduler.planning", "rescheduler.execution")


def subclasses(kind: type[Checker]) -> set[type[Checker]]:
    """All of them."""
    return {found for child in kind.__subclasses__() for found in ({child} | subclasses(child))}


def test_every_checker_is_in_the_list_and_says_what_it_checks() -> None:
    """None is forgotten."""
    assert set(catalogue.CHECKERS) == {kind for kind in subclasses(Checker) if kind.__name__ not in ABSTRACT}
    assert all(kind.name and len(kind.sentence) > 40 and kind.interests for kind in catalogue.CHECKERS)


def test_each_run_has_its_own_checkers() -> None:
    """With one history, which is told first."""
    first, second = catalogue.observers(), catalogue.observers()
    assert not {id(item) for item in first} & {id(item) for item in second}
    assert type(first[0]).__name__ == "History"


def test_checkers_do_not_ask_the_product() -> None:
    """What decides in the product may not judge it."""
    for path in Path(catalogue.__file__).parent.glob("*.py"):
        text = path.read_text()
        assert not [name for name in FORBIDDEN if f"from {name}" in text or f"import {name}" in text], path.name


def test_the_report_counts() -> None:
    """By invariant, with guards."""
    table = catalogue.report([Violation(1.0, "I1", "x"), Violation(2.0, "I1", "y")], {"I1": 7})
    assert "| I1 | 7 | 2 |" in table
    assert "| I20 | 0 | 0 |" in table
