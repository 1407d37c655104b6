"""The ledger in a ConfigMap: compare-and-swap, other people's marks, and everything that is no ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.ledger.ledger_marks import CLOSED_ANNOTATION, approved_plan, with_marks
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, Ledger
from tests.unit.adapters.fake_api_server import FakeApiServer
from tests.unit.adapters.kubernetes.ledger.ledger_objects import FULL, Objects, book, ledger_on, objects, server

# Tests of the annotations by which an operator closes the circuit breaker, and approves a plan.

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


__all__ = ["book", "objects", "server"]


def test_what_is_written_is_read(book: ShardedLedger) -> None:
    """From none at all, through creation and replacement."""
    assert book.read()[:4] == (EMPTY_LEDGER, "", None, "")
    first = book.write(EMPTY_LEDGER, "")
    assert first == "11"
    assert book.read()[:4] == (EMPTY_LEDGER, "11", None, "")
    second = book.write(FULL, first)
    assert book.read() == (FULL, second, None, "", "uid-11")


def test_of_two_who_write_one_is_told_to_read_again(book: ShardedLedger, server: FakeApiServer, tmp_path: Path) -> None:
    """At creation, at replacement, and where it was removed meanwhile."""
    other = ledger_on(server, tmp_path)
    version = other.write(FULL, "")
    assert book.write(EMPTY_LEDGER, "") is None
    assert version is not None
    assert other.write(FULL, version) is not None
    assert book.write(EMPTY_LEDGER, version) is None
    assert book.read().ledger == FULL


def test_one_that_was_removed_is_not_written_as_if_it_stood(book: ShardedLedger, objects: Objects) -> None:
    """The reader finds that there is none any more."""
    version = book.write(FULL, "")
    objects.book = None
    assert version is not None
    assert book.write(FULL, version) is None
    assert book.read().version == ""


def test_the_namespace_is_made_where_it_is_missing(book: ShardedLedger, objects: Objects) -> None:
    """With our labels, as for placeholders."""
    objects.namespace = None
    assert book.write(FULL, "") is not None
    assert objects.namespace is not None
    assert objects.namespace["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "rescheduler",
        "pod-security.kubernetes.io/enforce": "restricted",
    }


def test_it_is_marked_as_ours_with_owner_and_expiry_and_keeps_the_marks_of_others(
    book: ShardedLedger, objects: Objects
) -> None:
    """The plan's number, and the time from which on nothing in it counts."""
    objects.put(None, labels={"team": "a"}, annotations={"note": "b"})
    version = book.read().version
    book.write(FULL, version)
    assert objects.book is not None
    metadata = objects.book["metadata"]
    assert metadata["labels"] == {"team": "a", "app.kubernetes.io/managed-by": "rescheduler"}
    assert metadata["annotations"]["note"] == "b"
    assert metadata["annotations"]["rescheduler.dev/plan"] == "1"
    assert metadata["annotations"]["rescheduler.dev/expires"].startswith("20")


@pytest.mark.parametrize(("given", "told"), [("rack 7", "rack 7"), ("", "no reason is given"), ("a\nb", "a\\nb")])
def test_the_mark_that_stops_is_read_from_both_objects(
    book: ShardedLedger, objects: Objects, given: str, told: str
) -> None:
    """On the ConfigMap, on its namespace; escaped, and also without a reason."""
    objects.put(None, annotations={"rescheduler.dev/stop": given})
    assert book.read().stop == told
    objects.put(None)
    assert book.read().stop is None
    objects.namespace = {"metadata": {"annotations": {"rescheduler.dev/stop": given}}}
    assert book.read().stop == told


def test_the_mark_that_approves_a_plan_is_read_and_left_alone(book: ShardedLedger, objects: Objects) -> None:
    """Also where no ledger was written yet; writing the ledger keeps it."""
    objects.put(None, annotations={"rescheduler.dev/approved": "0123abcdef"})
    reading = book.read()
    assert reading.approved == "0123abcdef"
    book.write(FULL, reading.version)
    assert book.read().approved == "0123abcdef"
    objects.put(None)
    assert book.read().approved == ""
