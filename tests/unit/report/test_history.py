"""The history as a document and as a table."""

from __future__ import annotations

import json

import pytest

from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.report.documents import to_json
from rescheduler.report.history import HistoryDocument, history_of, history_report
from tests.builders import NOW
from tests.unit.execution.entries import entry
from tests.unit.report.rendering import rendered


@pytest.mark.parametrize(
    ("state", "landed_on", "outcome"),
    [
        (EntryState.INTENDED, None, "Unknown"),
        (EntryState.OPEN, None, "Unknown"),
        (EntryState.OPEN, "n1", "Landed"),
        (EntryState.OPEN, "n2", "LandedElsewhere"),
        (EntryState.REPAID, "n1", "Landed"),
        (EntryState.REPAID, None, "LandedElsewhere"),
        (EntryState.FAILED, "n0", "LandedElsewhere"),
        (EntryState.FAILED, None, "Unknown"),
        (EntryState.REFUSED, None, "Refused"),
        (EntryState.NOT_EVICTED, None, "NotAttempted"),
    ],
)
def test_outcomes_are_those_of_a_plan_s_result(state: EntryState, landed_on: str | None, outcome: str) -> None:
    """Where nobody knows yet, it says so."""
    [found] = history_of([entry(state=state, landed_on=landed_on)]).entries
    assert (found.outcome, found.state) == (outcome, state)


def test_the_document_has_the_promised_fields() -> None:
    """Each of them, also where there is nothing to tell."""
    document = json.loads(to_json(history_of([entry(objective="MakeRoom", reason="because", message="told")])))
    assert (document["apiVersion"], document["kind"]) == ("rescheduler/v1alpha1", "History")
    assert document["entries"] == [
        {
            "time": "2027-01-15T08:00:00Z",
            "pod": {"namespace": "default", "name": "web-0", "uid": "uid-default-web-0"},
            "fromNode": "n0",
            "toNode": "n1",
            "landedOn": None,
            "outcome": "Unknown",
            "state": "Open",
            "objective": "MakeRoom",
            "reason": "because",
            "plan": 1,
            "workload": "ReplicaSet default/web",
            "message": "told",
            "method": "Evict",
            "attempt": 1,
        }
    ]


def test_what_was_wrong_with_a_replacement_is_told() -> None:
    """An eviction that was carried out and came to nothing, with the kubelet's own word."""
    failing = entry(message="told", failure="web-1 cannot run on n2: ImagePullBackOff")
    assert history_of([failing]).entries[0].message == "told; web-1 cannot run on n2: ImagePullBackOff"


def test_the_oldest_comes_first() -> None:
    """Whatever order they were kept in."""
    found = history_of([entry("b", at=NOW + 5), entry("a", at=NOW), entry("c", at=NOW + 9)])
    assert [item.pod.name for item in found.entries] == ["a", "b", "c"]


def test_a_time_that_no_calendar_has_is_unknown() -> None:
    """A file may hold anything."""
    assert history_of([entry(at=1e300)]).entries[0].time == "unknown"


def test_the_table_tells_where_pods_went_and_why() -> None:
    """Wide, with plan, state, workload and objective."""
    history = history_of([entry(landed_on="n2", reason="because", objective="MakeRoom", message="told")])
    narrow = rendered(history_report(history), width=200)
    for text in ("1 eviction", "2027-01-15T08:00:00Z", "default/web-0", "n0", "n1", "n2", "LandedElsewhere", "because"):
        assert text in narrow
    assert "MakeRoom" not in narrow
    wide = rendered(history_report(history, wide=True), width=300)
    for text in ("MakeRoom", "ReplicaSet default/web", "Open", "because; told"):
        assert text in wide


def test_methods_are_told_where_not_all_are_evictions() -> None:
    """One that was given back is undone."""
    moved = entry(state=EntryState.REPAID, landed_on="n1", method=MoveMethod.SURGE)
    undone = entry("b", state=EntryState.NOT_EVICTED, method=MoveMethod.SURGE)
    history = history_of([moved, undone])
    assert [(found.method, found.outcome) for found in history.entries] == [("Surge", "Landed"), ("Surge", "Undone")]
    table = rendered(history_report(history), width=200)
    for text in ("2 moves", "METHOD", "Surge", "Undone"):
        assert text in table
    assert "METHOD" not in rendered(history_report(history_of([entry()])), width=200)


def test_an_empty_history_is_a_sentence() -> None:
    """It is an answer, too."""
    assert rendered(history_report(HistoryDocument())) == "no pod was moved, as far as is known here\n"


def test_names_cannot_play_with_a_terminal() -> None:
    """Whoever may write the ledger decides what stands in it."""
    evil = entry(reason="\x1b[31mred", message="\u202e", workload_key="\x07")
    table = rendered(history_report(history_of([evil]), wide=True), width=200)
    document = to_json(history_of([evil]))
    for text in (table, document):
        assert not {"\x1b", "\u202e", "\x07"} & set(text)
