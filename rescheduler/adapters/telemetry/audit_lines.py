"""Notices as lines of an audit log: who did what, when, under which plan and policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rescheduler.adapters.telemetry.eviction_words import eviction_word
from rescheduler.adapters.telemetry.log_lines import timestamp
from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.adapters.telemetry.round_words import outcome_of
from rescheduler.model.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    CapacityRequested,
    EvictionNoted,
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
from rescheduler.model.printable import printable

VERSION: Final = 1
"""Of the form of the lines."""
LONGEST_TEXT: Final = 2000
MOST_PODS: Final = 1000
DAEMON: Final = "rescheduler"
"""Who does what nobody asked for by name."""


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
    line = {key: _cleaned(value, hide) for key, value in {**first, **fields}.items() if value not in ("", None, [])}
    return msgspec.json.encode(line) + b"\n"


def _cleaned(value: Any, hide: Hide) -> Any:
    if isinstance(value, str):
        return printable(hide(value), LONGEST_TEXT)
    if isinstance(value, list):
        return [_cleaned(item, hide) for item in value]
    return value


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
        "objective": entry.objective,
        "reason": entry.reason,
        "message": entry.failure or entry.message,
    }


def _round(notice: RoundEnded) -> Mapping[str, Any]:
    report = notice.report
    moves = () if report.result is None else report.result.moves
    return {
        "who": report.approved_by or DAEMON,
        "what": "plan carried out",
        "plan": report.plan_id,
        "policy": report.policy_id,
        "mode": report.mode,
        "outcome": outcome_of(report),
        "reason": report.reason,
        "pods": [f"{move.pod.key}: {move.outcome.value}" for move in moves[:MOST_PODS]],
    }
