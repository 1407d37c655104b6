"""Notices as lines of a log: one line a decision, with what a person would search for as fields."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from rescheduler.adapters.telemetry.words import eviction_word, is_bad, outcome_of
from rescheduler.model.daemon.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    CapacityRequested,
    DefaultsBind,
    EvictionNoted,
    Fault,
    LeadershipChanged,
    MoveChanged,
    NodesOffered,
    NominationsFound,
    Notice,
    ObjectsSetAside,
    Paused,
    PolicyAcknowledged,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    Resumed,
    ServerLacks,
    Started,
    Stopping,
    SyncChanged,
    TriggerFired,
)
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.attempts import dropped, last_attempt
from rescheduler.model.plan.plan import Move, ObjectiveResult, PodReference, Refusal
from rescheduler.model.times import rfc3339

MOST_NAMED: Final = 5
"""Pods and nodes that a line names; of more it tells the number."""
DEBUG, INFO, WARNING, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR


class Line(NamedTuple):
    """One line: ``level`` as in ``logging``, ``event`` in a few fixed words, ``fields`` by name."""

    level: int
    event: str
    fields: Mapping[str, Any]


def timestamp(seconds: float) -> str:
    """RFC 3339 in UTC, to the millisecond; for times that no calendar has, the bare number."""
    try:
        return rfc3339(seconds, "milliseconds")
    except (OverflowError, OSError, ValueError):
        return f"{seconds}"


def pod_fields(pods: Iterable[PodReference]) -> dict[str, Any]:
    """The first pods by name, and how many there are."""
    return _named("pod", [pod.key for pod in pods])


def _named(what: str, names: list[str]) -> dict[str, Any]:
    if not names:
        return {}
    return {f"{what}_count": len(names), f"{what}s": names[:MOST_NAMED]}


def lines_of(notice: Notice) -> Iterator[Line]:
    """The lines of a notice; rounds are told by ``round_lines``."""
    tell = _TOLD.get(type(notice))
    if tell is not None:
        yield tell(notice)


def _started(notice: Started) -> Line:
    fields = {"version": notice.version, "mode": notice.mode, "policy_id": notice.policy_id}
    return Line(INFO, "started", fields)


def _stopping(notice: Stopping) -> Line:
    return Line(INFO, "stopping", {"reason": notice.reason})


def _trigger(notice: TriggerFired) -> Line:
    about = notice.occasion
    nodes = _named("node", list(about.nodes))
    fields = {"trigger": about.trigger, "reason": about.reason, **pod_fields(about.pods), **nodes}
    return Line(INFO, "trigger fired", fields)


def _eviction(notice: EvictionNoted) -> Line:
    entry = notice.entry
    fields: dict[str, Any] = {
        "pod": entry.pod.key,
        "uid": entry.pod.uid,
        "workload": entry.workload_key,
        "from_node": entry.from_node,
        "to_node": entry.to_node,
        "landed_on": entry.landed_on,
        "plan_number": entry.plan,
        "attempt": entry.attempt if entry.attempt > 1 else None,
        "objective": entry.objective,
        "reason": entry.reason,
        "failure": entry.failure,
        "message": entry.message,
    }
    level = WARNING if is_bad(entry) else INFO
    return Line(level, f"eviction {eviction_word(entry)}", {key: value for key, value in fields.items() if value})


def _move(notice: MoveChanged) -> Line:
    change = notice.change
    fields = {
        "state": change.state.value,
        "pod": change.pod.key,
        "uid": change.pod.uid,
        "run": notice.run_id,
        "from_node": change.from_node,
        "to_node": change.to_node,
        "node": change.node,
        "message": change.message,
    }
    return Line(DEBUG, "move state", fields)


def _leadership(notice: LeadershipChanged) -> Line:
    fields = {"is_leader": notice.is_leader, "holder": notice.holder, "reason": notice.reason}
    return Line(INFO, "leading" if notice.is_leader else "not leading", fields)


def _policy_loaded(notice: PolicyLoaded) -> Line:
    return Line(INFO, "policy loaded", {"policy_id": notice.policy_id, "policy": notice.name, "mode": notice.mode})


def _defaults_bind(notice: DefaultsBind) -> Line:
    return Line(INFO, "defaults bind", {"policy_id": notice.policy_id, "words": list(notice.words)})


def _server_lacks(notice: ServerLacks) -> Line:
    return Line(WARNING, "server lacks", {"policy_id": notice.policy_id, "words": list(notice.words)})


def _policy_kept(notice: PolicyKept) -> Line:
    return Line(WARNING, "policy kept", {"policy_id": notice.policy_id, "problem": notice.problem})


def _policy_held(notice: PolicyHeld) -> Line:
    fields = {"policy_id": notice.policy_id, "held_id": notice.held_id, "widening": list(notice.widening)}
    return Line(WARNING, "policy held", fields)


def _policy_acknowledged(notice: PolicyAcknowledged) -> Line:
    return Line(INFO, "policy acknowledged", {"held_id": notice.held_id, "who": notice.who})


def _approval_wanted(notice: ApprovalWanted) -> Line:
    pods = pod_fields(move.pod for move in notice.plan.moves)
    return Line(INFO, "approval wanted", {"plan": notice.plan_id, "expires_at": timestamp(notice.expires_at), **pods})


def _approval_given(notice: ApprovalGiven) -> Line:
    return Line(INFO, "approval given", {"plan": notice.plan_id, "who": notice.who, "how": notice.how})


def _approval_ended(notice: ApprovalEnded) -> Line:
    return Line(INFO, "approval ended", {"plan": notice.plan_id, "reason": notice.reason})


def _paused(notice: Paused) -> Line:
    until = None if notice.until is None else timestamp(notice.until)
    return Line(WARNING, "paused", {"who": notice.who, "reason": notice.reason, "until": until})


def _resumed(notice: Resumed) -> Line:
    return Line(INFO, "resumed", {"who": notice.who})


def _capacity(notice: CapacityRequested) -> Line:
    return Line(INFO, "capacity requested", {"how": notice.how, "message": notice.message, **pod_fields(notice.pods)})


def _offered(notice: NodesOffered) -> Line:
    return Line(INFO, "nodes offered", {"how": notice.how, **_named("node", list(notice.nodes))})


def _sync(notice: SyncChanged) -> Line:
    level, event = (INFO, "watch in sync") if notice.is_synced else (WARNING, "watch out of sync")
    return Line(level, event, {"kind": notice.kind, "message": notice.message})


_MOST_SET_ASIDE: Final = 5


def _set_aside(notice: ObjectsSetAside) -> Line:
    shown = "; ".join(item.text for item in notice.objects[:_MOST_SET_ASIDE])
    names = [f"{item.kind} {item.key}" for item in notice.objects]
    return Line(WARNING, "objects set aside", {**_named("object", names), "message": shown})


def _nominations(notice: NominationsFound) -> Line:
    message = (
        f"nominated to room that no plan makes: {len(notice.standing)}; of them taken off, since they had run out: "
        f"{len(notice.cleared)}"
    )
    found = {item.pod.uid: item.pod for item in (*notice.standing, *notice.cleared)}
    return Line(WARNING, "nominated without a plan", {"message": message, **pod_fields(found.values())})


def _fault(notice: Fault) -> Line:
    return Line(ERROR, "fault", {"where": notice.where, "message": notice.message})


_TOLD: Final[Mapping[type, Callable[[Any], Line]]] = {
    Started: _started,
    Stopping: _stopping,
    TriggerFired: _trigger,
    EvictionNoted: _eviction,
    MoveChanged: _move,
    LeadershipChanged: _leadership,
    PolicyLoaded: _policy_loaded,
    DefaultsBind: _defaults_bind,
    ServerLacks: _server_lacks,
    PolicyKept: _policy_kept,
    PolicyHeld: _policy_held,
    PolicyAcknowledged: _policy_acknowledged,
    ApprovalWanted: _approval_wanted,
    ApprovalGiven: _approval_given,
    ApprovalEnded: _approval_ended,
    Paused: _paused,
    Resumed: _resumed,
    CapacityRequested: _capacity,
    NodesOffered: _offered,
    SyncChanged: _sync,
    ObjectsSetAside: _set_aside,
    NominationsFound: _nominations,
    Fault: _fault,
}


# A round as lines of a log: one for the whole, and for those who look closely one for each move and each refusal.

MOST_REFUSALS: Final = 1000
"""A large cluster has far more of them than anybody reads, and the loop waits while they are written."""


def round_line(report: RoundReport) -> Line:
    """Why it ran, what it planned, what became of it, and why nothing or no more was done."""
    plan, result = report.plan, report.result
    fields: dict[str, Any] = {
        "round": report.number,
        "outcome": outcome_of(report),
        "triggers": [occasion.trigger for occasion in report.occasions],
        "mode": report.mode,
        "policy_id": report.policy_id,
        "plan": report.plan_id,
        "planned": 0 if plan is None else len(plan.moves),
        "helped": 0 if plan is None else len(plan.placements),
        "refusals": 0 if plan is None else len(plan.refusals),
        "objectives": [] if plan is None else [objective_fields(objective) for objective in plan.objectives],
        "attempts": None if result is None else last_attempt(result),
        "dropped": None if result is None else len(dropped(result)) or None,
        "outcomes": None if result is None else dict(Counter(move.outcome.value for move in result.moves)),
        "reason": report.reason,
        "approved_by": report.approved_by,
        "seconds": round(report.ended_at - report.started_at, 3),
        "steps": {step: round(seconds, 3) for step, seconds in report.seconds.items()},
    }
    kept = {key: value for key, value in fields.items() if value not in ("", None, [], {})}
    return Line(logging.WARNING if plan is None else logging.INFO, "round ended", kept)


def objective_fields(objective: ObjectiveResult) -> dict[str, Any]:
    """What one objective reached and what is proven about it."""
    fields: dict[str, Any] = {
        "name": objective.name,
        "status": objective.status.value,
        "value": objective.value,
        "bound": objective.bound,
        "gap": objective.gap,
        "unit": objective.unit,
    }
    if objective.wanted is not UNSET:
        fields |= {"helped": objective.helped, "wanted": objective.wanted}
    return {**fields, "message": objective.message} if objective.message else fields


def detail_lines(report: RoundReport) -> Iterator[Line]:
    """Each planned move, each place for a pending pod, and each refusal; of very many refusals the first."""
    if report.plan is None:
        return
    about = {"round": report.number, "plan": report.plan_id}
    for move in report.plan.moves:
        yield Line(logging.DEBUG, "move planned", {**about, **_of_move(move)})
    for place in report.plan.placements:
        fields = {**about, "pod": place.pod.key, "node": place.node, "wave": place.wave}
        yield Line(logging.DEBUG, "place planned", fields)
    refusals = report.plan.refusals
    for refusal in refusals[:MOST_REFUSALS]:
        yield Line(logging.DEBUG, "left alone", {**about, **_of_refusal(refusal)})
    if len(refusals) > MOST_REFUSALS:
        yield Line(logging.DEBUG, "more left alone", {**about, "count": len(refusals) - MOST_REFUSALS})


def _of_move(move: Move) -> dict[str, Any]:
    return {
        "pod": move.pod.key,
        "from_node": move.from_node,
        "to_node": move.destination,
        "wave": move.wave,
        "objective": move.objective,
        "reason": move.reason,
    }


def _of_refusal(refusal: Refusal) -> dict[str, Any]:
    subject: dict[str, Any] = {}
    if refusal.pod is not UNSET:
        subject["pod"] = refusal.pod.key
    if refusal.node is not UNSET:
        subject["node"] = refusal.node
    return {**subject, "rule": refusal.rule, "message": refusal.message}
