"""The ledger in a ConfigMap: compare-and-swap, other people's marks, and everything that is no ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.ledger import ConfigMapLedger
from rescheduler.model.ledger import EMPTY_LEDGER
from tests.unit.adapters.fake_api_server import FakeApiServer
from tests.unit.adapters.kubernetes.ledger_objects import (
    FULL,
    Objects,
    book,
    ledger_on,
    objects,
    server,
)

__all__ = ["book", "objects", "server"]


def test_what_is_written_is_read(book: ConfigMapLedger) -> None:
    """From none at all, through creation and replacement."""
    assert book.read() == (EMPTY_LEDGER, "", None, "")
    first = book.write(EMPTY_LEDGER, "")
    assert first == "11"
    assert book.read() == (EMPTY_LEDGER, "11", None, "")
    second = book.write(FULL, first)
    assert book.read() == (FULL, second, None, "")


def test_of_two_who_write_one_is_told_to_read_again(
    book: ConfigMapLedger, server: FakeApiServer, tmp_path: Path
) -> None:
    """At creation, at replacement, and where it was removed meanwhile."""
    other = ledger_on(server, tmp_path)
    version = other.write(FULL, "")
    assert book.write(EMPTY_LEDGER, "") is None
    assert version is not None
    assert other.write(FULL, version) is not None
    assert book.write(EMPTY_LEDGER, version) is None
    assert book.read().ledger == FULL


def test_one_that_was_removed_is_not_written_as_if_it_stood(book: ConfigMapLedger, objects: Objects) -> None:
    """The reader finds that there is none any more."""
    version = book.write(FULL, "")
    objects.book = None
    assert version is not None
    assert book.write(FULL, version) is None
    assert book.read().version == ""


def test_the_namespace_is_made_where_it_is_missing(book: ConfigMapLedger, objects: Objects) -> None:
    """With our label, as for placeholders."""
    objects.namespace = None
    assert book.write(FULL, "") is not None
    assert objects.namespace is not None
    assert objects.namespace["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "rescheduler"}


def test_it_is_marked_as_ours_with_owner_and_expiry_and_keeps_the_marks_of_others(
    book: ConfigMapLedger, objects: Objects
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
    book: ConfigMapLedger, objects: Objects, given: str, told: str
) -> None:
    """On the ConfigMap, on its namespace; escaped, and also without a reason."""
    objects.put(None, annotations={"rescheduler.dev/stop": given})
    assert book.read().stop == told
    objects.put(None)
    assert book.read().stop is None
    objects.namespace = {"metadata": {"annotations": {"rescheduler.dev/stop": given}}}
    assert book.read().stop == told


def test_the_mark_that_approves_a_plan_is_read_and_left_alone(book: ConfigMapLedger, objects: Objects) -> None:
    """Also where no ledger was written yet; writing the ledger keeps it."""
    objects.put(None, annotations={"rescheduler.dev/approved": "0123abcdef"})
    reading = book.read()
    assert reading.approved == "0123abcdef"
    book.write(FULL, reading.version)
    assert book.read().approved == "0123abcdef"
    objects.put(None)
    assert book.read().approved == ""
