"""The audit log: a line for each decision of a person or of the daemon, on the disk at once, whatever the disk does."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.telemetry.audit import AuditFile, audit_fields
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.extension_points import StoreError
from rescheduler.model.daemon.notices import EvictionNoted, Paused, PolicyLoaded, Resumed, RoundEnded, TriggerFired
from rescheduler.model.daemon.rounds import Occasion
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.adapters.telemetry.daemon_notices import Heard, all_notices, dry_round, report
from tests.unit.execution.entries import entry

RESUMED = Resumed(NOW, "jane")
EVICTED = EvictionNoted(NOW, entry(reason="makes room"))


class Disk:
    """Writes as told: so many bytes in all, and then no more."""

    def __init__(self, room: int | None = None) -> None:
        self.room = room

    def __call__(self, file: int, line: bytes) -> int:
        """As ``os.write``."""
        if self.room is None:
            return os.write(file, line)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.write(file, line[: self.room])
        self.room -= written
        return written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be."""
    return tmp_path / "audit.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    """Each whole line decoded."""
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def whats(path: Path) -> list[str]:
    """What each line tells."""
    return [line["what"] for line in lines(path)]


def test_who_did_what_when_and_under_which_policy(path: Path) -> None:
    """Faults and watches are no decisions: everything else has a line."""
    log = AuditFile(lambda: path, FakeClock(), Heard())
    for notice in all_notices():
        log.hear(notice)
    found = lines(path)
    assert whats(path) == [
        "started", "policy loaded", "plan carried out", "eviction sent", "leading", "policy kept", "policy held",
        "policy acknowledged", "approval wanted", "approval given", "approval ended", "paused", "resumed",
        "capacity requested", "nodes offered", "stopping",
    ]  # fmt: skip
    assert {line["policy"] for line in found} == {"abcdefabcdef"}
    assert {line["time"][:16] for line in found} == {"2027-01-15T08:00"}
    who = {line["what"]: line["who"] for line in found}
    of_jane = ["policy acknowledged", "approval given", "paused", "resumed"]
    assert [what for what, name in who.items() if name == "jane"] == of_jane
    assert {name for name in who.values() if name != "jane"} == {"rescheduler"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_eviction_tells_all_that_is_known(path: Path) -> None:
    """Pod, workload, both nodes, plan, objective and reason; what a person approved bears his name."""
    log = AuditFile(lambda: path, FakeClock(), Heard())
    log.hear(PolicyLoaded(NOW, "abc", "p", "Approve"))
    log.hear(EVICTED)
    log.hear(RoundEnded(NOW, report(approved_by="jane")))
    _, eviction, carried_out = lines(path)
    assert eviction | {"time": ""} == {
        "version": 1, "time": "", "who": "rescheduler", "policy": "abc", "what": "eviction sent",
        "pod": "default/web-0", "uid": "uid-default-web-0", "workload": "ReplicaSet default/web", "fromNode": "n0",
        "toNode": "n1", "planNumber": 1, "reason": "makes room",
    }  # fmt: skip
    assert (carried_out["who"], carried_out["plan"], carried_out["pods"]) == ("jane", "p-7", ["default/web-0: Landed"])
    assert [carried_out[name] for name in ("round", "triggers", "planned", "evicted", "landed")] == [
        7, ["Schedule"], 1, 1, 1,
    ]  # fmt: skip


def test_rounds_that_carry_nothing_out_leave_no_line() -> None:
    """A dry run every five minutes would bury the rest, and has its place in the file of past rounds; a round that a
    person asked for is told."""
    assert audit_fields(dry_round()) is None
    assert audit_fields(TriggerFired(NOW, Occasion("Schedule", "", NOW))) is None
    asked = audit_fields(TriggerFired(NOW, Occasion("OnDemand", "jane by REST", NOW)))
    assert asked is not None
    assert asked["reason"] == "jane by REST"


def test_lines_are_only_ever_added(path: Path) -> None:
    """By one process after another."""
    for _ in range(3):
        log = AuditFile(lambda: path, FakeClock(), Heard())
        log.hear(RESUMED)
        log.close()
    assert whats(path) == ["resumed"] * 3


def test_each_decision_that_evicts_waits_for_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others do not."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    log = AuditFile(lambda: path, FakeClock(), Heard())
    log.hear(RESUMED)
    assert not synced
    log.hear(EVICTED)
    assert len(synced) == 1


def test_a_full_disk_is_told_once_and_the_lack_is_written_down_later(path: Path) -> None:
    """Half a line stays half a line: what comes after begins on its own."""
    told, disk = Heard(), Disk(room=30)
    log = AuditFile(lambda: path, FakeClock(NOW + 9), told, write=disk)
    for _ in range(3):
        log.hear(EVICTED)
    assert told.faults == [f"audit: the audit log {path} cannot be written: No space left on device"]
    assert told[0].at == NOW + 9
    disk.room = None
    log.hear(RESUMED)
    text = path.read_text().splitlines()
    assert len(text[0]) == 30
    assert json.loads(text[1]) == {"version": 1, "who": "rescheduler", "what": "lines are lacking", "count": 3}
    assert json.loads(text[2])["what"] == "resumed"
    disk.room = 0
    log.hear(RESUMED)
    assert len(told.faults) == 2


def test_a_line_that_a_kill_cut_off_is_left_as_it_is(path: Path) -> None:
    """The next process begins a new one."""
    path.write_text('{"version":1,"what":"evic')
    AuditFile(lambda: path, FakeClock(), Heard()).hear(RESUMED)
    assert json.loads(path.read_text().splitlines()[1])["what"] == "resumed"


def test_a_file_that_was_rotated_away_is_begun_anew(path: Path) -> None:
    """Without a signal: by its name."""
    log = AuditFile(lambda: path, FakeClock(), Heard())
    log.hear(RESUMED)
    path.rename(path.with_suffix(".1"))
    log.hear(EVICTED)
    assert whats(path.with_suffix(".1")) == ["resumed"]
    assert whats(path) == ["eviction sent"]
    path.unlink()
    log.hear(RESUMED)
    assert whats(path) == ["resumed"]


def test_the_file_is_the_one_that_the_policy_names_by_now(path: Path) -> None:
    """A policy that comes in force may name another one, or none; nothing is lost in the one before."""
    named: list[Path | None] = [None]
    told = Heard()
    log = AuditFile(lambda: named[0], FakeClock(), told)
    log.check()
    log.hear(RESUMED)
    named[0] = path
    log.hear(EVICTED)
    named[0] = path.with_name("other.jsonl")
    log.hear(RESUMED)
    named[0] = None
    log.hear(RESUMED)
    assert (whats(path), whats(path.with_name("other.jsonl"))) == (["eviction sent"], ["resumed"])
    assert not told


@pytest.mark.parametrize("kind", ["folder", "pipe", "nowhere"])
def test_what_is_no_file_is_found_out_at_the_start(path: Path, kind: str) -> None:
    """And never waited for: opening a pipe would. Later it is a fault that is survived."""
    where = path
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        where = path / "below" / "audit.jsonl"
    told = Heard()
    log = AuditFile(lambda: where, FakeClock(), told)
    with pytest.raises(StoreError, match="cannot be written"):
        log.check()
    log.hear(RESUMED)
    assert len(told.faults) == 1


def test_a_good_file_passes_the_look_at_the_start(path: Path) -> None:
    """It is made, and stays empty."""
    AuditFile(lambda: path, FakeClock(), Heard()).check()
    assert path.read_bytes() == b""


def test_texts_cannot_forge_lines_nor_hold_secrets(path: Path) -> None:
    """A reason may come from anybody who may pause us."""
    hide = Redaction(lambda text: text.replace("marked", "***"))
    log = AuditFile(lambda: path, FakeClock(), Heard(), hide=hide)
    log.hear(Paused(NOW, "jane\u202e", 'x\n{"what":"resumed"}\x1b[2J marked ' + "y" * 9000))
    (line,) = lines(path)
    assert line["who"] == "jane\\u202e"
    assert line["reason"].startswith('x\\n{"what":"resumed"}\\x1b[2J *** ')
    assert len(path.read_bytes()) < 3000
    assert "\x1b" not in path.read_text()
