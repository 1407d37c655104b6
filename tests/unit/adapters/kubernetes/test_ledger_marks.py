"""Tests of the annotations by which an operator closes the circuit breaker, and approves a plan."""

from __future__ import annotations

import pytest

from rescheduler.adapters.kubernetes.ledger_marks import CLOSED_ANNOTATION, approved_plan, with_marks
from rescheduler.model.ledger import Breaker, Ledger

NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z
OPEN = Ledger(breaker=Breaker(opened_at=NOON, openings=2, reason="because"))


def marked(text: str, before: Ledger = OPEN, now: float | None = NOON + 3600) -> Breaker:
    """The breaker of a ledger with this annotation."""
    return with_marks(before, {CLOSED_ANNOTATION: text}, now).breaker


def test_a_breaker_that_opened_before_is_closed() -> None:
    """It starts afresh, and forgives what was sent until then."""
    assert marked("2026-01-01T12:30:00Z") == Breaker(since=NOON + 1800)


def test_a_breaker_that_opened_later_stays_open() -> None:
    """An old annotation does not close it again."""
    assert marked("2026-01-01T11:59:59Z") == OPEN.breaker
    reopened = Ledger(breaker=Breaker(opened_at=NOON, openings=1, since=NOON - 1))
    assert marked("2026-01-01T11:59:59Z", reopened) == reopened.breaker


def test_a_closed_one_forgives_too() -> None:
    """Once: what is remembered of later times stays."""
    assert marked("2026-01-01T12:00:00Z", Ledger()) == Breaker(since=NOON)
    later = Ledger(breaker=Breaker(since=NOON + 1, openings=1))
    assert marked("2026-01-01T12:00:00Z", later) == later.breaker


@pytest.mark.parametrize("text", ["", "yes", "true", "12:30", "2026-13-01T00:00:00Z"])
def test_a_text_that_is_no_time_says_nothing(text: str) -> None:
    """The breaker stays open."""
    assert marked(text) == OPEN.breaker
    assert with_marks(OPEN, {}, None) is OPEN


def test_a_time_to_come_is_now() -> None:
    """Nobody forgives what has not happened."""
    assert marked("2027-01-01T12:00:00Z") == Breaker(since=NOON + 3600)
    assert marked("2026-01-01T12:30:00Z", now=None) == Breaker(since=NOON + 1800)


@pytest.mark.parametrize(
    ("annotations", "number"),
    [
        ({}, ""),
        ({"rescheduler.dev/approved": "0123abcdef"}, "0123abcdef"),
        ({"rescheduler.dev/approved": " 0123abcdef\n"}, "0123abcdef"),
        ({"rescheduler.dev/approved": ""}, ""),
        ({"rescheduler.dev/approved": "a" * 65}, ""),
        ({"rescheduler.dev/plan": "0123abcdef"}, ""),
    ],
)
def test_the_number_of_an_approved_plan_is_read(annotations: dict[str, str], number: str) -> None:
    """What cannot be one of ours is none."""
    assert approved_plan(annotations) == number
