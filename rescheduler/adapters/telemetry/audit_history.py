"""Reads back from the audit log what rounds have carried out, for a process that has just begun."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from rescheduler.adapters.telemetry.audit import CARRIED_OUT, DAEMON, LONGEST_TEXT, VERSION
from rescheduler.model.daemon.round_digest import MOST_RULES, RoundDigest
from rescheduler.model.daemon.told_state import MOST_PAST
from rescheduler.model.times import read_time

MOST_BYTES: Final = 16_000_000
"""Of the file's end: 200 rounds of a thousand moves each."""
_MARK: Final = f'"{CARRIED_OUT}"'.encode()
_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
_Count = Annotated[int, Meta(ge=0, le=10**9)]


class _Line(msgspec.Struct, rename="camel"):
    """What such a line must hold; one of an earlier version lacks the counts and is passed over."""

    version: int
    what: str
    who: _Text
    time: str
    started_at: str
    round: _Count
    mode: _Text = ""
    plan: _Text = ""
    reason: _Text = ""
    triggers: Annotated[tuple[_Text, ...], Meta(max_length=100)] = ()
    helped: _Count = 0
    wanted: _Count = 0
    placed: _Count = 0
    planned: _Count = 0
    evicted: _Count = 0
    landed: _Count = 0
    emptied: _Count = 0
    refused: Annotated[tuple[tuple[_Text, _Count], ...], Meta(max_length=MOST_RULES)] = ()
    refused_in_all: _Count = 0


def read_rounds(path: Path) -> tuple[RoundDigest, ...]:
    """The newest rounds that carried a plan out, the newest last, as the file has them.

    What cannot be read is passed over: a file that is not there, lines that are cut off or of another version.
    """
    found: deque[RoundDigest] = deque(maxlen=MOST_PAST)
    try:
        for line in _lines(path):
            digest = _digest(line)
            if digest is not None:
                found.append(digest)
    except OSError:
        return tuple(found)  # whoever writes the file tells what is wrong with it
    return tuple(found)


def _lines(path: Path) -> Iterator[bytes]:
    """Lines of the file's end that may tell of a round; the first of them may lack its beginning."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - MOST_BYTES, 0))
        for line in file.read(MOST_BYTES).split(b"\n"):
            if _MARK in line:
                yield line


def _digest(line: bytes) -> RoundDigest | None:
    """The round of a line; None for any other line."""
    try:
        told = msgspec.json.decode(line, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    started_at, ended_at = read_time(told.started_at), read_time(told.time)
    if told.version != VERSION or told.what != CARRIED_OUT or started_at is None or ended_at is None:
        return None
    return RoundDigest(
        number=told.round,
        started_at=started_at,
        ended_at=ended_at,
        mode=told.mode,
        triggers=told.triggers,
        plan_id=told.plan,
        helped=told.helped,
        wanted=told.wanted,
        placed=told.placed,
        planned=told.planned,
        evicted=told.evicted,
        landed=told.landed,
        emptied=told.emptied,
        refused=told.refused,
        refused_in_all=told.refused_in_all,
        reason=told.reason,
        approved_by="" if told.who == DAEMON else told.who,
        is_held=False,
        is_carried_out=True,
        objectives=(),
    )
