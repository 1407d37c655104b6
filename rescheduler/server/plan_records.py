"""The last plans, from rounds and from what waits for a person, with what became of each."""

from __future__ import annotations

from rescheduler.daemon.standing import Standing
from rescheduler.model.plan import Plan
from rescheduler.model.round_report import RoundReport
from rescheduler.server.daemon_composing import maybe_told
from rescheduler.server.daemon_documents import PlanRecord, PlanSummary


def plan_numbers(standing: Standing) -> list[str]:
    """Numbers of the plans that are remembered, the newest first."""
    waiting = standing.approvals.proposal
    first = [] if waiting is None else [waiting.plan_id]
    rounds = [report.plan_id for report in reversed(standing.rounds) if report.plan is not None and report.plan_id]
    return list(dict.fromkeys([*first, *rounds]))


def plan_record(standing: Standing, number: str) -> PlanRecord | None:
    """One plan whole; None if it is not remembered."""
    report, plan = _round_and_plan(standing, number)
    if plan is None:
        return None
    summary = plan_summary(standing, number)
    fields = {name: getattr(summary, name) for name in summary.__struct_fields__}
    return PlanRecord(**fields, plan=plan, result=None if report is None else report.result)


def plan_summary(standing: Standing, number: str) -> PlanSummary:
    """One remembered plan as lists have it."""
    report, plan = _round_and_plan(standing, number)
    proposal, (status, reason, newer) = standing.approvals.proposal, _status(standing, number, report)
    is_waiting = proposal is not None and proposal.plan_id == number
    approvals = [one for one in standing.approvals.given if one.plan_id == number]
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


def _round_and_plan(standing: Standing, number: str) -> tuple[RoundReport | None, Plan | None]:
    """The round of a plan: the one that carried it out, if any did."""
    report, proposal = standing.round_of(number), standing.approvals.proposal
    if report is not None and report.plan is not None:
        return report, report.plan
    return report, proposal.plan if proposal is not None and proposal.plan_id == number else None


def _status(standing: Standing, number: str, report: RoundReport | None) -> tuple[str, str, str]:
    """Status, reason and the newer plan."""
    proposal = standing.approvals.proposal
    if proposal is not None and proposal.plan_id == number:
        by = "" if proposal.approval is None else f"approved by {proposal.approval.who}; about to be carried out"
        return ("Approved", by, "") if by else ("Waiting", "waits for approval", "")
    if report is not None and report.result is not None:
        return "CarriedOut", report.reason, ""
    newest = max((one.at for one in standing.approvals.given if one.plan_id == number), default=None)
    ending = next((one for one in reversed(standing.approvals.ended) if one.plan_id == number), None)
    if ending is not None and (newest is None or ending.at >= newest):
        return "Ended", ending.reason, ending.newer
    if newest is not None and (report is None or not report.approved_by):
        return "Approved", "is being carried out", ""
    return "NotCarriedOut", "" if report is None else report.reason, ""
