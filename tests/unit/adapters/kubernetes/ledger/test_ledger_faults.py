"""Everything that is no ledger, and every answer that is none, is an error that says what was found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.extension_points import ClusterError, LedgerDeniedError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, status
from tests.unit.adapters.kubernetes.ledger.ledger_objects import (
    FULL,
    NAMESPACES,
    Objects,
    book,
    objects,
    server,
)
from tests.unit.execution.entries import old_text

__all__ = ["book", "objects", "server"]


def text(**changes: Any) -> str:
    """The text of a ledger with these fields changed."""
    return json.dumps({**json.loads(old_text(FULL)), **changes})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"ledger.json": "{"}, "holds no ledger that can be read"),
        ({"ledger.json": "[]"}, "Expected `object`, got `array`"),
        ({"ledger.json": text(plan="x")}, "Expected `int`, got `str` - at `$.plan`"),
        ({"ledger.json": text(plan=-1)}, "plan is -1"),
        ({"ledger.json": text(nextEntry=2)}, "the numbers of its entries are not in order"),
        ({"ledger.json": text(entries=[])[:-2]}, "holds no ledger that can be read"),
        ({"ledger.json": text().replace('"at": 1800000000.0', '"at": -5.0', 1)}, "entry 1 has a time that is none"),
        ({"ledger.json": text().replace('"at": 1800000000.0', '"at": 1e300', 1)}, "entry 1 has a time that is none"),
        ({"ledger.json": text().replace('"uid": "uid-default-web-0"', '"uid": ""')}, "entry 1 names no pod"),
        ({"ledger.json": text().replace("Repaid", "Lost")}, "Invalid enum value 'Lost'"),
        ({"ledger.json": text(), "format": "3"}, "is of form '3', wanted '2'"),
        ({"ledger.json": "{", "format": "2"}, "holds no ledger that can be read"),
        ({"ledger.json": '{"shards": "00abcdef00abcdef"}', "format": "2"}, "its shards are none"),
        ({"ledger.json": '{"plan": -1}', "format": "2"}, "plan is -1"),
        ({"game.properties": "x"}, "is not ours: found the keys game.properties, wanted ledger.json"),
    ],
)
def test_what_is_no_ledger_is_an_error_that_says_what_was_found(
    book: ShardedLedger, objects: Objects, data: dict[str, str], said: str
) -> None:
    """With the object's name; it is never taken for an empty one."""
    objects.put(data)
    with pytest.raises(ClusterError) as caught:
        book.read()
    assert said in str(caught.value)
    assert "ConfigMap holds/book" in str(caught.value)


def test_a_broken_ledger_is_told_with_the_command_that_repairs(book: ShardedLedger, objects: Objects) -> None:
    """Which goes on without it, if nothing is under way."""
    objects.put({"ledger.json": "{"})
    with pytest.raises(ClusterError, match="let it go on without: rescheduler ledger accept-loss"):
        book.read()


def test_one_of_ours_without_its_text_is_empty_and_fences_off_older_plans(
    book: ShardedLedger, objects: Objects
) -> None:
    """Its version stands, so it is replaced and not created."""
    objects.put({}, labels={"app.kubernetes.io/managed-by": "rescheduler"})
    reading = book.read()
    assert (reading.ledger, reading.version) == (EMPTY_LEDGER, "11")
    assert book.write(FULL, reading.version) == "12"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_a_right_that_is_missing_is_told_by_name(book: ShardedLedger, objects: Objects, method: str) -> None:
    """So that somebody can decide to do without."""
    version = "" if method == "POST" else "11"
    if method != "POST":
        objects.put(None)
        book.read()
    objects.answers[method] = lambda: status(403, "forbidden")
    verb = {"GET": "get", "POST": "create", "PUT": "update"}[method]
    with pytest.raises(LedgerDeniedError, match=f"forbids us to {verb} ConfigMap holds/book") as caught:
        book.read() if method == "GET" else book.write(FULL, version)
    assert f" grants it: {verb} configmaps in namespace holds" in str(caught.value)
    assert ("deploy/reading.yaml" in str(caught.value)) == (verb == "get")
    assert "deploy/acting.yaml" in str(caught.value)


def test_a_namespace_that_we_may_not_look_at_is_no_error(
    server: FakeApiServer, book: ShardedLedger, objects: Objects
) -> None:
    """The mark on the ConfigMap itself is seen all the same."""
    objects.put(None, annotations={"rescheduler.dev/stop": "rack 7"})
    real = objects.handle
    server.handle = lambda request: status(403, "no") if request.path == f"{NAMESPACES}/holds" else real(request)
    assert book.read().stop == "rack 7"


@pytest.mark.parametrize("code", [500, 503, 504])
def test_a_5xx_may_have_been_carried_out(book: ShardedLedger, objects: Objects, code: int) -> None:
    """Whoever wrote looks into the ledger."""
    objects.answers["POST"] = lambda: status(code, "etcdserver: request timed out")
    with pytest.raises(OutcomeUnknownError, match="etcdserver: request timed out"):
        book.write(FULL, "")


def test_an_answer_that_is_broken_off_may_have_been_carried_out(book: ShardedLedger, objects: Objects) -> None:
    """As a 5xx."""
    objects.answers["POST"] = lambda: Answer(201, b"{}", announced=500)
    with pytest.raises(OutcomeUnknownError):
        book.write(FULL, "")


@pytest.mark.parametrize("code", [413, 422, 429])
def test_other_refusals_are_errors(book: ShardedLedger, objects: Objects, code: int) -> None:
    """An immutable ConfigMap, say; nothing was written."""
    objects.answers["POST"] = lambda: status(code, "field is immutable")
    with pytest.raises(ClusterError, match="field is immutable") as caught:
        book.write(FULL, "")
    assert not isinstance(caught.value, LedgerDeniedError | OutcomeUnknownError)


def test_words_that_could_play_with_a_terminal_are_escaped(book: ShardedLedger, objects: Objects) -> None:
    """Whoever may write the ConfigMap decides what stands there."""
    objects.put({"\x1b[31m": "x"})
    with pytest.raises(ClusterError) as caught:
        book.read()
    assert "\x1b" not in str(caught.value)
