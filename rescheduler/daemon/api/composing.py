"""Makes the API's documents of what the daemon's loop has told."""

from __future__ import annotations

from rescheduler.daemon.api.documents import (
    ApprovalState,
    FaultState,
    HeldPolicy,
    LeaderState,
    OccasionState,
    PlanRecord,
    PlanSummary,
    PolicyState,
    Round,
    RoundSummary,
    SnapshotState,
    State,
    SwitchState,
)
from rescheduler.daemon.steering.approvals import Approval
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.pausing import Switch
from rescheduler.model.daemon.rounds import Occasion, RoundReport
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.model.times import rfc3339


def told(moment: float) -> str:
    """A moment as documents have it."""
    try:
        return rfc3339(moment, "milliseconds")
    except (OverflowError, ValueError, OSError):
        return "9999-12-31T23:59:59.999Z"


def maybe_told(moment: float | None) -> str | None:
    """The same, null for none."""
    return None if moment is None else told(moment)


def state_document(state: DaemonState) -> State:
    """How the daemon stands."""
    proposal = state.approvals.proposal
    return State(
        version=state.version,
        started_at=maybe_told(state.started_at),
        leader=LeaderState(state.is_leader, state.holder),
        policy=_policy(state),
        switch=switch_document(state.switch),
        waiting=None if proposal is None else proposal.plan_id,
        last_round=state.rounds[-1].number if state.rounds else None,
        snapshot=None if state.cluster is None else _snapshot(state.cluster),
        out_of_sync=dict(state.out_of_sync),
        faults=[FaultState(told(fault.at), fault.where, fault.message) for fault in state.faults],
        run_id=state.run_id,
        moves={stage.value: number for stage, number in state.moves_by_state.items() if state.moves},
    )


def _policy(state: DaemonState) -> PolicyState:
    held, problem = state.held, "" if state.kept is None else state.kept.problem
    waiting = None if held is None else HeldPolicy(held.held_id, told(held.at), list(held.widening))
    return PolicyState(state.policy_name, state.policy_id, state.mode, problem, waiting)


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
        landed=sum(move.outcome.has_landed for move in moves),
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


# The last plans, from rounds and from what waits for a person, with what became of each.


def plan_numbers(state: DaemonState) -> list[str]:
    """Numbers of the plans that are remembered, the newest first."""
    waiting = state.approvals.proposal
    first = [] if waiting is None else [waiting.plan_id]
    rounds = [report.plan_id for report in reversed(state.rounds) if report.plan is not None and report.plan_id]
    return list(dict.fromkeys([*first, *rounds]))


def plan_record(state: DaemonState, number: str) -> PlanRecord | None:
    """One plan whole; None if it is not remembered."""
    report, plan = _round_and_plan(state, number)
    if plan is None:
        return None
    summary = plan_summary(state, number)
    fields = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return PlanRecord(**fields, plan=plan, result=None if report is None else report.result)


def plan_summary(state: DaemonState, number: str) -> PlanSummary:
    """One remembered plan as lists have it."""
    report, plan = _round_and_plan(state, number)
    proposal, (status, reason, newer) = state.approvals.proposal, _status(state, number, report)
    is_waiting = proposal is not None and proposal.plan_id == number
    approvals = [one for one in state.approvals.given if one.plan_id == number]
    return PlanSummary(
        id=number,
        status=status,
        reason=reason,
        round=None if report is None else report.number,
        moves=0 if plan is None else len(plan.moves),
        placements=0 if plan is None else len(plan.placements),
        proposed_at=maybe_told(proposal.proposed_at) if proposal is not None and is_waiting else None,
        expires_at=maybe_told(proposal.expires_at) if proposal is not None and is_waiting else None,
        approved_by=approvals[-1].who if approvals and status != "Waiting" else "",
        newer_plan=newer,
    )


def _round_and_plan(state: DaemonState, number: str) -> tuple[RoundReport | None, Plan | None]:
    """The round of a plan: the one that carried it out, if any did."""
    report, proposal = state.round_of(number), state.approvals.proposal
    if report is not None and report.plan is not None:
        return report, report.plan
    return report, proposal.plan if proposal is not None and proposal.plan_id == number else None


def _status(state: DaemonState, number: str, report: RoundReport | None) -> tuple[str, str, str]:
    """Status, reason and the newer plan."""
    proposal = state.approvals.proposal
    if proposal is not None and proposal.plan_id == number:
        by = "" if proposal.approval is None else f"approved by {proposal.approval.who}; about to be carried out"
        return ("Approved", by, "") if by else ("Waiting", "waits for approval", "")
    if report is not None and report.result is not None:
        return "CarriedOut", report.reason, ""
    newest = max((one.at for one in state.approvals.given if one.plan_id == number), default=None)
    ending = next((one for one in reversed(state.approvals.ended) if one.plan_id == number), None)
    if ending is not None and (newest is None or ending.at >= newest):
        return "Ended", ending.reason, ending.newer
    if newest is not None and (report is None or not report.approved_by):
        return "Approved", "is being carried out", ""
    return "NotCarriedOut", "" if report is None else report.reason, ""
