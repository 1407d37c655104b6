"""Rounds that a process before has carried out, read back from the audit log, whatever state the file is in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.telemetry import audit_history
from rescheduler.adapters.telemetry.audit import AuditFile
from rescheduler.adapters.telemetry.audit_history import read_rounds
from rescheduler.model.daemon.notices import PolicyLoaded, RoundEnded
from rescheduler.model.daemon.round_digest import RoundDigest, digest_of
from rescheduler.model.daemon.told_state import MOST_PAST
from rescheduler.model.plan.plan import OutcomeKind, Refusal
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.adapters.telemetry.daemon_notices import Heard, all_notices, plan, report, result

ESCAPE = "\x1b[2J"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "audit.jsonl"


def write(path: Path, *numbers: int, **fields: Any) -> list[RoundDigest]:
    """Rounds as a daemon writes them; what they are in short."""
    reports = [report(number=number, **fields) for number in numbers]
    log = AuditFile(lambda: path, FakeClock(), Heard())
    for one in reports:
        log.hear(RoundEnded(one.ended_at, one))
    log.close()
    return [digest_of(one)._replace(objectives=()) for one in reports]


def change(path: Path, **fields: Any) -> None:
    """Add the last line again with other fields."""
    line = json.loads(path.read_bytes().splitlines()[-1])
    with path.open("a") as file:
        file.write(json.dumps(line | fields) + "\n")


def test_what_was_written_is_read_back(path: Path) -> None:
    """Counts, refusals, reason and who approved, word for word; other lines are no rounds."""
    log = AuditFile(lambda: path, FakeClock(), Heard())
    for notice in all_notices():
        if not isinstance(notice, RoundEnded):
            log.hear(notice)
    log.hear(PolicyLoaded(NOW, "abc", "p", "Execute"))
    log.close()
    refusals = (Refusal("Age", "", node="n"), Refusal("Age", "", node="m"), Refusal("Namespace", "", node="n"))
    written = write(path, 3, plan=plan(refusals=refusals), approved_by="jane")
    written += write(path, 4, result=result(OutcomeKind.NOT_ATTEMPTED), reason="stopped: SIGTERM")
    assert list(read_rounds(path)) == written


def test_no_file_no_rounds(path: Path, tmp_path: Path) -> None:
    """The first start, a folder in its place, an empty file."""
    assert read_rounds(path) == read_rounds(tmp_path) == ()
    path.touch()
    assert read_rounds(path) == ()


def test_a_line_that_is_cut_off_costs_that_line_alone(path: Path) -> None:
    """At the end by a crash, at the beginning by a rotation, in the middle by a disk that was full."""
    first, second, third = write(path, 1, 2, 3)
    lines = path.read_bytes().splitlines()
    path.write_bytes(lines[0][40:] + b"\n" + lines[1] + b"\n" + lines[2][:-30])
    assert list(read_rounds(path)) == [second]
    path.write_bytes(lines[0] + b"\n" + lines[1][:50] + b"\n\x00\xff\xfe\n" + lines[2] + b"\n")
    assert list(read_rounds(path)) == [first, third]


@pytest.mark.parametrize(
    "fields",
    [
        {"version": 2}, {"version": "1"}, {"round": -1}, {"round": 10**30}, {"planned": "7"}, {"time": "yesterday"},
        {"startedAt": "2027-01-15T08:00:00"}, {"time": "99999-01-01T00:00:00Z"}, {"refused": [["Age"]]},
        {"refused": [["Age", 1]] * 5000}, {"triggers": "PendingPods"}, {"reason": "x" * 100_000},
    ],
)  # fmt: skip
def test_a_line_of_another_version_or_that_nobody_of_ours_wrote_is_passed_over(
    path: Path, fields: dict[str, Any]
) -> None:
    """Endless texts and numbers among them; what stands before and after it is kept."""
    (first,) = write(path, 1)
    change(path, **fields)
    (third,) = write(path, 3)
    assert list(read_rounds(path)) == [first, third]


def test_lines_from_before_the_counts_are_passed_over(path: Path) -> None:
    """An upgrade begins a new timeline."""
    write(path, 1)
    line = json.loads(path.read_text())
    kept = ("version", "time", "who", "what", "plan", "policy", "mode", "outcome", "pods")
    path.write_text(json.dumps({name: line[name] for name in kept}) + "\n")
    assert read_rounds(path) == ()


def test_only_the_newest_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the timeline shows; of a long file no more than its end is read."""
    written = write(path, *range(1, MOST_PAST + 11))
    assert list(read_rounds(path)) == written[10:]
    monkeypatch.setattr(audit_history, "MOST_BYTES", len(path.read_bytes().splitlines()[-1]) * 3)
    assert list(read_rounds(path)) == written[-2:]


def test_clocks_that_differ_change_nothing_of_the_order(path: Path) -> None:
    """A round that ended before it began, and one in the future, stay where they were written."""
    write(path, 1)
    change(path, time="2020-01-01T00:00:00Z", round=2)
    change(path, time="2099-01-01T00:00:00Z", round=3)
    change(path, time="2027-01-15T08:00:01Z", round=4)
    assert [one.number for one in read_rounds(path)] == [1, 2, 3, 4]


def test_hostile_names_are_texts(path: Path) -> None:
    """They come back as they stand in the file; what shows them makes them harmless."""
    write(path, 1)
    change(path, triggers=[f"<script>{ESCAPE}"], reason="</td>", who="<b>jane</b>")
    read = read_rounds(path)[-1]
    assert (read.triggers, read.reason, read.approved_by) == ((f"<script>{ESCAPE}",), "</td>", "<b>jane</b>")
