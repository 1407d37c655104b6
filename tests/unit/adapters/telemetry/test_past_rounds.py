"""Rounds of processes before, read back from their own file or from the audit log, whatever state these are in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.telemetry import past_rounds
from rescheduler.adapters.telemetry.audit import AuditFile
from rescheduler.adapters.telemetry.past_rounds import RoundsFile, read_past_rounds, rounds_file
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.model.daemon.notices import PolicyLoaded, RoundEnded
from rescheduler.model.daemon.round_digest import RoundDigest, digest_of
from rescheduler.model.daemon.rounds import RoundReport
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
    return [digest_of(one) for one in reports]


def read_rounds(path: Path) -> tuple[RoundDigest, ...]:
    """What is read back, and nothing else."""
    return read_past_rounds(path).rounds


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
    monkeypatch.setattr(past_rounds, "MOST_BYTES", len(path.read_bytes().splitlines()[-1]) * 3)
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


def own_file(path: Path, told: Heard | None = None) -> RoundsFile:
    """The file of past rounds beside an audit log."""
    return RoundsFile(lambda: path, FakeClock(), Heard() if told is None else told, Redaction())


def keep(path: Path, *reports: RoundReport) -> list[RoundDigest]:
    """Rounds as a daemon keeps them beside its audit log; what they are in short."""
    file = own_file(path)
    for one in reports:
        file.hear(RoundEnded(one.ended_at, one))
    return [digest_of(one) for one in reports]


def test_rounds_that_carried_nothing_out_outlast_a_restart(path: Path) -> None:
    """In a file of their own, with all that the timeline shows; the audit log is left as it is."""
    kept = keep(path, report("DryRun", number=1), report(number=2), report("Approve", number=3, is_held=True))
    again = keep(path, report("DryRun", number=1))  # the next process counts anew
    assert list(read_rounds(path)) == kept + again
    assert not path.exists()
    assert [file.name for file in path.parent.iterdir()] == ["audit.jsonl.rounds"]
    assert rounds_file(path).stat().st_mode & 0o777 == 0o600


def test_the_file_stays_small_and_keeps_the_last_plan_that_was_carried_out(path: Path) -> None:
    """However many rounds had nothing to do since."""
    file = own_file(path)
    done = report(number=1)
    for one in (done, *(report("DryRun", number=number) for number in range(2, MOST_PAST + 12))):
        file.hear(RoundEnded(one.ended_at, one))
    read = read_rounds(path)
    assert (len(read), read[0].number, read[1].number, read[-1].number) == (MOST_PAST, 1, 13, MOST_PAST + 11)
    assert len(rounds_file(path).read_bytes().splitlines()) == MOST_PAST


def test_a_file_that_is_cut_off_or_of_somebody_else_is_said_and_mended(path: Path) -> None:
    """What can be read of it is shown; the next round writes a whole one."""
    first, _, third = keep(path, *(report("DryRun", number=number) for number in (1, 2, 3)))
    lines = rounds_file(path).read_bytes().splitlines()
    rounds_file(path).write_bytes(
        b"\n".join([lines[0], b"\x00\xff{[" * 9, b'{"x":' + b"[" * 99_999, lines[2], lines[1][:-9]])
    )
    read = read_past_rounds(path)
    assert list(read.rounds) == [first, third]
    assert read.problem.startswith(f"3 of 5 lines of rounds in {rounds_file(path)} were passed over: ")
    (fourth,) = keep(path, report("DryRun", number=4))
    assert read_past_rounds(path) == ((first, third, fourth), "")


def test_where_the_file_is_lost_the_audit_log_tells_what_was_carried_out(path: Path) -> None:
    """Removed, or spoilt as a whole: which is said."""
    done = write(path, 1, 2)
    assert read_past_rounds(path) == (tuple(done), "")
    rounds_file(path).write_bytes(b"\x00" * 5000)
    assert list(read_rounds(path)) == done
    assert "1 of 1 lines" in read_past_rounds(path).problem


def test_a_file_that_may_not_be_read_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it were not there."""
    keep(path, report("DryRun"))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert read_past_rounds(path) == ((), f"{rounds_file(path)} cannot be read: Permission denied")


def test_a_disk_that_takes_nothing_is_told_once_until_it_does(path: Path) -> None:
    """The file before stays whole, and nothing half written is left."""
    told = Heard()
    file = own_file(path, told)
    rounds_file(path).mkdir()
    for number in (1, 2):
        file.hear(RoundEnded(NOW, report(number=number)))
    assert told.faults == [f"rounds: {rounds_file(path)} cannot be written: Is a directory"]
    assert [one.name for one in path.parent.iterdir()] == [rounds_file(path).name]
    rounds_file(path).rmdir()
    file.hear(RoundEnded(NOW, report(number=3)))
    assert [one.number for one in read_rounds(path)] == [3]
    rounds_file(path).unlink()
    path.parent.rmdir()
    file.hear(RoundEnded(NOW, report(number=4)))
    assert len(told) == 2


def test_two_replicas_with_one_file_lose_nothing_of_each_other(path: Path) -> None:
    """Each leads for a while."""
    one, other = own_file(path), own_file(path)
    for number, file in enumerate((one, other, other, one), 1):
        file.hear(RoundEnded(NOW, report("DryRun", number=number)))
    assert [one.number for one in read_rounds(path)] == [1, 2, 3, 4]


def test_texts_that_do_not_print_come_back_as_they_were_written(path: Path) -> None:
    """Also the longest, all escapes, written again with each further round; a secret is never on the disk."""
    hostile = "\U000e0001" * 600
    file = RoundsFile(lambda: path, FakeClock(), Heard(), Redaction(lambda text: text.replace("marked", "***")))
    for number in (1, 2, 3):
        file.hear(RoundEnded(NOW, report("DryRun", number=number, reason=f"marked\n{hostile}")))
    assert [one.number for one in read_rounds(path)] == [1, 2, 3]
    assert len({one.reason for one in read_rounds(path)}) == 1
    assert read_rounds(path)[0].reason.startswith("***\\n\\U000e0001")


def test_without_an_audit_log_nothing_is_kept(path: Path) -> None:
    """Other notices leave nothing either."""
    RoundsFile(lambda: None, FakeClock(), Heard(), Redaction()).hear(RoundEnded(NOW, report()))
    file = own_file(path)
    for notice in all_notices():
        if not isinstance(notice, RoundEnded):
            file.hear(notice)
    assert list(path.parent.iterdir()) == []
