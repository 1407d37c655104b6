"""A round in short as a line of JSON, and back: in the audit log, and in the file of past rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from rescheduler.adapters.telemetry.json_lines import DAEMON, LONGEST_TEXT, VERSION
from rescheduler.adapters.telemetry.log_lines import timestamp
from rescheduler.model.daemon.round_digest import LONGEST_REASON, MOST_RULES, RoundDigest
from rescheduler.model.times import read_time

CARRIED_OUT: Final = "plan carried out"
NOT_CARRIED_OUT: Final = "round ended"
_LONGEST_READ: Final = 10 * LONGEST_TEXT + 3
"""A character that does not print is written as an escape of up to ten, and a text that was cut ends in dots."""
_Text = Annotated[str, Meta(max_length=_LONGEST_READ)]
_Count = Annotated[int, Meta(ge=0, le=10**9)]


def round_fields(one: RoundDigest) -> Mapping[str, Any]:
    """What the line of a round holds beside version, time and policy."""
    return {
        "who": one.approved_by or DAEMON,
        "what": CARRIED_OUT if one.is_carried_out else NOT_CARRIED_OUT,
        "plan": one.plan_id,
        "mode": one.mode,
        "reason": one.reason,
        "round": one.number,
        "startedAt": timestamp(one.started_at),
        "triggers": list(one.triggers),
        "helped": one.helped,
        "wanted": one.wanted,
        "placed": one.placed,
        "planned": one.planned,
        "evicted": one.evicted,
        "landed": one.landed,
        "emptied": one.emptied,
        "refused": [list(rule) for rule in one.refused],
        "refusedInAll": one.refused_in_all,
        "held": one.is_held,
    }


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
    held: bool = False


def digest_in(line: bytes) -> RoundDigest | None:
    """The round of a line; None for any other line."""
    try:
        told = msgspec.json.decode(line, type=_Line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    started_at, ended_at = read_time(told.started_at), read_time(told.time)
    is_ours = told.version == VERSION and told.what in (CARRIED_OUT, NOT_CARRIED_OUT)
    if not is_ours or started_at is None or ended_at is None:
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
        reason=told.reason[:LONGEST_REASON],
        approved_by="" if told.who == DAEMON else told.who,
        is_held=told.held,
        is_carried_out=told.what == CARRIED_OUT,
    )
