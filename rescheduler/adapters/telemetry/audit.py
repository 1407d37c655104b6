"""The audit log as a file: JSON lines that are only ever added; those that matter are on the disk at once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from rescheduler.adapters.telemetry.json_lines import DAEMON, VERSION, json_line
from rescheduler.adapters.telemetry.listeners import Hear
from rescheduler.adapters.telemetry.log_lines import timestamp
from rescheduler.adapters.telemetry.redaction import Hide, Redaction
from rescheduler.adapters.telemetry.round_lines import round_fields
from rescheduler.adapters.telemetry.words import eviction_word, outcome_of
from rescheduler.extension_points import Clock, Listener, StoreError
from rescheduler.model.daemon.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    CapacityRequested,
    EvictionNoted,
    Fault,
    LeadershipChanged,
    NodesOffered,
    Notice,
    Paused,
    PolicyAcknowledged,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    Resumed,
    RoundEnded,
    Started,
    Stopping,
    TriggerFired,
)
from rescheduler.model.daemon.round_digest import digest_of
from rescheduler.model.printable import shortened

# Notices as lines of an audit log: who did what, when, under which plan and policy.

MOST_PODS: Final = 1000


def audit_fields(notice: Notice) -> Mapping[str, Any] | None:
    """``who``, ``what`` and what it is about; None for what is not for an audit (faults, watches)."""
    match notice:
        case EvictionNoted():
            return _eviction(notice)
        case RoundEnded() if notice.report.result is not None:
            return _round(notice)
        case TriggerFired() if notice.occasion.trigger == "OnDemand":
            return {"what": "round asked for", "reason": notice.occasion.reason}
        case ApprovalWanted():
            pods = [move.pod.key for move in notice.plan.moves[:MOST_PODS]]
            until = timestamp(notice.expires_at)
            return {"what": "approval wanted", "plan": notice.plan_id, "expiresAt": until, "pods": pods}
        case ApprovalGiven():
            return {"who": notice.who, "what": "approval given", "plan": notice.plan_id, "how": notice.how}
        case ApprovalEnded():
            return {"what": "approval ended", "plan": notice.plan_id, "reason": notice.reason}
        case Paused():
            until = "" if notice.until is None else timestamp(notice.until)
            return {"who": notice.who, "what": "paused", "reason": notice.reason, "until": until}
        case Resumed():
            return {"who": notice.who, "what": "resumed"}
        case PolicyAcknowledged():
            return {"who": notice.who, "what": "policy acknowledged", "heldPolicy": notice.held_id}
    return _of_the_daemon(notice)


def _of_the_daemon(notice: Notice) -> Mapping[str, Any] | None:
    match notice:
        case Started():
            return {"what": "started", "policy": notice.policy_id, "mode": notice.mode, "version": notice.version}
        case Stopping():
            return {"what": "stopping", "reason": notice.reason}
        case LeadershipChanged():
            what = "leading" if notice.is_leader else "not leading"
            return {"what": what, "holder": notice.holder, "reason": notice.reason}
        case PolicyLoaded():
            return {"what": "policy loaded", "policy": notice.policy_id, "name": notice.name, "mode": notice.mode}
        case PolicyKept():
            return {"what": "policy kept", "policy": notice.policy_id, "reason": notice.problem}
        case PolicyHeld():
            told = {"heldPolicy": notice.held_id, "widening": list(notice.widening)}
            return {"what": "policy held", "policy": notice.policy_id, **told}
        case CapacityRequested():
            pods = [pod.key for pod in notice.pods[:MOST_PODS]]
            return {"what": "capacity requested", "how": notice.how, "pods": pods, "message": notice.message}
        case NodesOffered():
            return {"what": "nodes offered", "how": notice.how, "nodes": list(notice.nodes[:MOST_PODS])}
    return None


def must_last(notice: Notice) -> bool:
    """Whether its line has to be on the disk at once: what evicts, and what lets others evict."""
    return isinstance(notice, EvictionNoted | ApprovalGiven | PolicyAcknowledged | RoundEnded)


def audit_line(notice: Notice, policy_id: str, hide: Hide) -> bytes | None:
    """One line of JSON with its line break; None for what is not for an audit."""
    fields = audit_fields(notice)
    if fields is None:
        return None
    first = {"version": VERSION, "time": timestamp(notice.at), "who": DAEMON, "policy": policy_id}
    return json_line({**first, **fields}, hide)


def _eviction(notice: EvictionNoted) -> Mapping[str, Any]:
    entry = notice.entry
    return {
        "what": f"eviction {eviction_word(entry)}",
        "pod": entry.pod.key,
        "uid": entry.pod.uid,
        "workload": entry.workload_key,
        "fromNode": entry.from_node,
        "toNode": entry.to_node,
        "landedOn": entry.landed_on,
        "planNumber": entry.plan,
        **({"attempt": entry.attempt} if entry.attempt > 1 else {}),
        "objective": entry.objective,
        "reason": entry.reason,
        "message": entry.failure or entry.message,
    }


def _round(notice: RoundEnded) -> Mapping[str, Any]:
    report = notice.report
    moves = () if report.result is None else report.result.moves
    told = {"policy": report.policy_id, "outcome": outcome_of(report), "reason": report.reason}
    pods = [f"{move.pod.key}: {move.outcome.value}" for move in moves[:MOST_PODS]]
    return {**round_fields(digest_of(report)), **told, "pods": pods}


WHERE: Final = "audit"
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


class AuditFile(Listener):
    """Writes what is for an audit. May be told from one thread at a time: put it into a ``QueuedListener``.

    A line that cannot be written is told of by a Fault, once until lines can be written again; the number of lines that
    are lacking then stands in the file. A file that was moved away (by a log rotation, say) is begun anew.
    """

    def __init__(
        self,
        where: Callable[[], Path | None],
        clock: Clock,
        tell: Hear,
        *,
        hide: Redaction | None = None,
        write: Callable[[int, bytes], int] = os.write,
    ) -> None:
        """``where``: the file as the policy in force names it, None: none; it may become another one.

        ``tell`` hears of faults; ``write`` is the system's own.
        """
        self._where = where
        self._path = Path()
        self._clock = clock
        self._tell = tell
        self._hide = Redaction() if hide is None else hide
        self._write = write
        self._file: int | None = None
        self._identity = (0, 0)
        self._is_mid_line = False
        self._lacking = 0
        self._policy_id = ""

    def check(self) -> None:
        """Raise StoreError for a file that cannot be written, before anything depends on it."""
        if not self._has_place():
            return
        try:
            self._open()
        except OSError as error:
            raise StoreError(self._problem(error)) from None

    def hear(self, notice: Notice) -> None:
        """Write the line of a notice, if it has one; never raises for what the disk does."""
        if isinstance(notice, Started | PolicyLoaded):
            self._policy_id = notice.policy_id
        line = audit_line(notice, self._policy_id, self._hide)
        if line is None or not self._has_place():
            return
        try:
            self._add(line, lasting=must_last(notice))
        except OSError as error:
            self._lacking += 1
            self._forget()
            if self._lacking == 1:
                self._tell(Fault(self._clock.now(), WHERE, self._problem(error)))

    def close(self) -> None:
        """Let go of the file."""
        self._forget()

    def _has_place(self) -> bool:
        """Whether there is a file to write to by now; another one than before is begun by its next line."""
        path = self._where()
        if path is not None and path != self._path:
            self._forget()
            self._path = path
        return path is not None

    def _add(self, line: bytes, *, lasting: bool) -> None:
        self._open()
        if self._lacking:
            told = b'{"version":1,"who":"rescheduler","what":"lines are lacking","count":%d}\n' % self._lacking
            self._put(told)
            self._lacking = 0
        self._put(line)
        if lasting and self._file is not None:
            os.fsync(self._file)

    def _put(self, line: bytes) -> None:
        """The whole line; after half of one the next begins on a line of its own."""
        assert self._file is not None
        rest = b"\n" + line if self._is_mid_line else line
        while rest:
            written = self._write(self._file, rest)
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            rest = rest[written:]
            self._is_mid_line = bool(rest)

    def _open(self) -> None:
        """The file under its name, opened anew if another stands there by now. Raises OSError."""
        if self._file is not None and self._identity == _identity(self._path):
            return
        self._forget()
        file = os.open(self._path, _FLAGS, 0o600)
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            os.close(file)
            raise OSError("found a folder, a pipe or a device; wanted a file")
        self._file, self._identity = file, (found.st_dev, found.st_ino)
        self._is_mid_line = found.st_size > 0 and not _ends_a_line(self._path)

    def _forget(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _problem(self, error: OSError) -> str:
        why = error.strerror or str(error)
        return f"the audit log {shortened(str(self._path), 500)} cannot be written: {why}"


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _ends_a_line(path: Path) -> bool:
    """Whether the last line is whole; no, where we may not look: an empty line does no harm."""
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except OSError:
        return False
