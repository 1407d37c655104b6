"""Makes the API's documents of what the daemon's loop has told."""

from __future__ import annotations

from datetime import UTC, datetime

from rescheduler.daemon.approvals import Approval
from rescheduler.daemon.pausing import Switch
from rescheduler.daemon.standing import Standing
from rescheduler.model.cluster import Cluster
from rescheduler.model.occasions import Occasion
from rescheduler.model.plan import OutcomeKind
from rescheduler.model.round_report import RoundReport
from rescheduler.server.daemon_documents import (
    ApprovalState,
    FaultState,
    HeldPolicy,
    LeaderState,
    OccasionState,
    PolicyState,
    Round,
    RoundSummary,
    SnapshotState,
    State,
    SwitchState,
)

_LANDED = (OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE)


def told(moment: float) -> str:
    """A moment as documents have it."""
    try:
        return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return "9999-12-31T23:59:59.999Z"


def maybe_told(moment: float | None) -> str | None:
    """The same, null for none."""
    return None if moment is None else told(moment)


def state_document(standing: Standing) -> State:
    """How the daemon stands."""
    proposal = standing.approvals.proposal
    return State(
        version=standing.version,
        started_at=maybe_told(standing.started_at),
        leader=LeaderState(standing.is_leader, standing.holder),
        policy=_policy(standing),
        switch=switch_document(standing.switch),
        waiting=None if proposal is None else proposal.plan_id,
        last_round=standing.rounds[-1].number if standing.rounds else None,
        snapshot=None if standing.cluster is None else _snapshot(standing.cluster),
        out_of_sync=dict(standing.out_of_sync),
        faults=[FaultState(told(fault.at), fault.where, fault.message) for fault in standing.faults],
    )


def _policy(standing: Standing) -> PolicyState:
    held, problem = standing.held, "" if standing.kept is None else standing.kept.problem
    waiting = None if held is None else HeldPolicy(held.held_id, told(held.at), list(held.widening))
    return PolicyState(standing.policy_name, standing.policy_id, standing.mode, problem, waiting)


def _snapshot(cluster: Cluster) -> SnapshotState:
    taken_at = told(cluster.taken_at) if cluster.taken_at else None
    return SnapshotState(taken_at, len(cluster.nodes), len(cluster.pods), len(cluster.pending_pods))


def switch_document(switch: Switch) -> SwitchState:
    """Whether somebody has paused."""
    pause = switch.pause
    if pause is None:
        return SwitchState(paused=False, etag=switch.tag)
    return SwitchState(True, switch.tag, pause.who, pause.reason, told(pause.at), maybe_told(pause.until))


def approval_document(approval: Approval) -> ApprovalState:
    """Who has said yes."""
    return ApprovalState(approval.plan_id, approval.who, approval.how, told(approval.at))


def round_summary(report: RoundReport) -> RoundSummary:
    """One round as lists have it."""
    objectives = () if report.plan is None else report.plan.objectives
    moves = () if report.result is None else report.result.moves
    return RoundSummary(
        number=report.number,
        started_at=told(report.started_at),
        ended_at=told(report.ended_at),
        mode=report.mode,
        policy_id=report.policy_id,
        is_dry_run=report.is_dry_run,
        occasions=[_occasion(one) for one in report.occasions],
        plan_id=report.plan_id,
        planned=0 if report.plan is None else len(report.plan.moves),
        landed=sum(move.outcome in _LANDED for move in moves),
        reason=report.reason,
        approved_by=report.approved_by,
        seconds=dict(report.seconds),
        objectives=list(objectives),
    )


def round_document(report: RoundReport) -> Round:
    """One round whole."""
    summary = round_summary(report)
    fields = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return Round(**fields, plan=report.plan, result=report.result)


def _occasion(occasion: Occasion) -> OccasionState:
    at = told(occasion.at)
    return OccasionState(occasion.trigger, occasion.reason, at, list(occasion.pods), list(occasion.nodes))
