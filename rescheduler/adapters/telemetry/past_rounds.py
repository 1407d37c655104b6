"""The last rounds in a small file beside the audit log, so that the timeline of the page outlasts a restart."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from rescheduler.adapters.files.whole_file import whole_file
from rescheduler.adapters.telemetry.json_lines import VERSION, json_line
from rescheduler.adapters.telemetry.listeners import Hear
from rescheduler.adapters.telemetry.log_lines import timestamp
from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.adapters.telemetry.round_lines import CARRIED_OUT, digest_in, round_fields
from rescheduler.extension_points import Clock, Listener
from rescheduler.model.daemon.notices import Fault, Notice, RoundEnded
from rescheduler.model.daemon.round_digest import RoundDigest, digest_of
from rescheduler.model.daemon.told_state import newest_rounds
from rescheduler.model.printable import shortened

MOST_BYTES: Final = 16_000_000
"""Of a file's end: 200 rounds of a thousand moves each, as the audit log has them."""
WHERE: Final = "rounds"
_MARK: Final = f'"{CARRIED_OUT}"'.encode()


class PastRounds(NamedTuple):
    """Rounds of processes before, the newest last; ``problem``: what of them could not be read, or ""."""

    rounds: tuple[RoundDigest, ...] = ()
    problem: str = ""


def rounds_file(audit: Path) -> Path:
    """Beside the audit log, under its name."""
    return audit.with_name(f"{audit.name}.rounds")


def read_past_rounds(audit: Path) -> PastRounds:
    """The last rounds; where their own file holds none, those that carried a plan out, which the audit log has too."""
    found = _read(rounds_file(audit))
    if found.rounds:
        return found
    done = _read(audit, _MARK)
    return PastRounds(done.rounds, found.problem or done.problem)


def _read(path: Path, mark: bytes = b"") -> PastRounds:
    """Rounds in the lines that hold ``mark``. A line that cannot be read costs that line alone."""
    try:
        lines = [line for line in _lines(path) if line and mark in line]
    except OSError as error:
        return PastRounds(problem=f"{_named(path)} cannot be read: {error.strerror or error}")
    digests = [digest_in(line) for line in lines]
    found = tuple(digest for digest in digests if digest is not None)
    lacking = len(digests) - len(found)
    why = "they are cut off, of another version, or of somebody else"
    told = f"{lacking} of {len(digests)} lines of rounds in {_named(path)} were passed over: {why}"
    return PastRounds(newest_rounds(found), told if lacking else "")


def _lines(path: Path) -> list[bytes]:
    """Lines of the file's end, whole ones but for the last; none where there is no file. Raises OSError."""
    if not path.is_file():
        return []
    with path.open("rb") as file:
        start = max(file.seek(0, os.SEEK_END) - MOST_BYTES, 0)
        file.seek(start)
        lines = file.read(MOST_BYTES).split(b"\n")
    return lines[1:] if start else lines


def _named(path: Path) -> str:
    return shortened(str(path), 500)


class RoundsFile(Listener):
    """Keeps the file, which is replaced whole. May be told from one thread at a time: put it into a ``QueuedListener``.

    It is read anew each time, since another replica may have led meanwhile. What cannot be written is told of by a
    Fault, once until it can; what cannot be read was told at the start, and goes.
    """

    def __init__(self, where: Callable[[], Path | None], clock: Clock, tell: Hear, hide: Hide) -> None:
        """``where``: the audit log as the policy in force names it, None: none, and no such file either."""
        self._where = where
        self._clock = clock
        self._tell = tell
        self._hide = hide
        self._is_failing = False

    def hear(self, notice: Notice) -> None:
        """Add a round that has ended; never raises for what the disk does."""
        audit = self._where()
        if audit is None or not isinstance(notice, RoundEnded):
            return
        path = rounds_file(audit)
        try:
            rounds = newest_rounds((*_read(path).rounds, digest_of(notice.report)))
            with whole_file(path) as file:
                file.writelines(self._line(one) for one in rounds)
        except OSError as error:
            if not self._is_failing:
                problem = f"{_named(path)} cannot be written: {error.strerror or error}"
                self._tell(Fault(self._clock.now(), WHERE, problem))
            self._is_failing = True
        else:
            self._is_failing = False

    def _line(self, one: RoundDigest) -> bytes:
        return json_line({"version": VERSION, "time": timestamp(one.ended_at), **round_fields(one)}, self._hide)
