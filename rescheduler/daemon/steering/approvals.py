"""Plans that wait for a person, as a state machine: proposed, approved once, carried out once, or expired, or replaced.

Pure: each step gives the state that follows and what is to be told. Times in seconds since the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from rescheduler.daemon.steering.steering_errors import ApprovalRefusedError, KeyReusedError, UnknownPlanError
from rescheduler.model.daemon.notices import ApprovalEnded, ApprovalGiven, ApprovalWanted
from rescheduler.model.plan.plan import Plan

ANNOTATION: Final = "annotation"
"""Who and how, of an approval that stands on the ledger's object."""
MOST_REMEMBERED: Final = 256
"""Approvals and endings that are remembered, so that a request sent again gets the same answer."""
UNKNOWN_MARK: Final = "\0"
"""No annotation can say this."""


class Approval(NamedTuple):
    """Who said yes to a plan. ``key``: of the request, so that it may be sent again."""

    plan_id: str
    who: str
    how: str
    at: float
    key: str = ""


class Ending(NamedTuple):
    """Why a plan does not wait any more. ``newer``: the plan that has taken its place, "" where there is none."""

    plan_id: str
    at: float
    reason: str
    newer: str = ""


@dataclass(frozen=True)
class Proposal:
    """A plan that waits, or that was approved and is to be carried out.

    ``stale_mark``: what the annotation said when it was proposed, which was not meant for it.
    """

    plan_id: str
    plan: Plan
    proposed_at: float
    expires_at: float
    approval: Approval | None = None
    stale_mark: str = ""


Notices: TypeAlias = tuple[ApprovalWanted | ApprovalGiven | ApprovalEnded, ...]
Moves: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Approvals:
    """At most one plan waits at a time. ``given`` and ``ended``: of earlier ones, the newest last."""

    proposal: Proposal | None = None
    given: tuple[Approval, ...] = ()
    ended: tuple[Ending, ...] = ()

    def propose(
        self, plan_id: str, plan: Plan, now: float, expires_seconds: float, mark: str = ""
    ) -> tuple[Approvals, Notices]:
        """A round has made a plan.

        The same moves as of the plan that waits: that one goes on waiting, under its own number. A plan that was
        approved, and is about to be carried out, stands whatever comes. Anything else takes the place of what waits.
        """
        state, told = self.at(now)
        waiting = state.proposal
        if waiting is not None and (waiting.approval is not None or _moves(waiting.plan) == _moves(plan)):
            return state, told
        if waiting is not None:
            state, ended = state.end(now, f"plan {plan_id} has taken its place", newer=plan_id)
            told = (*told, *ended)
        proposal = Proposal(plan_id, plan, now, now + expires_seconds, stale_mark=mark)
        return replace(state, proposal=proposal), (*told, ApprovalWanted(now, plan_id, plan, proposal.expires_at))

    def at(self, now: float) -> tuple[Approvals, Notices]:
        """Time has passed: what waits too long expires, approved or not."""
        if self.proposal is None or now < self.proposal.expires_at:
            return self, ()
        was = "" if self.proposal.approval is None else ", approved, before it could be carried out"
        return self.end(now, f"it has expired{was}")

    def end(self, now: float, reason: str, *, newer: str = "") -> tuple[Approvals, Notices]:
        """What waits does not any more."""
        if self.proposal is None:
            return self, ()
        ending = Ending(self.proposal.plan_id, now, reason, newer)
        state = replace(self, proposal=None, ended=(*self.ended, ending)[-MOST_REMEMBERED:])
        return state, (ApprovalEnded(now, ending.plan_id, reason),)

    def answered(self, plan_id: str, who: str, key: str) -> Approval | None:
        """The answer to a request that was sent before. Raises KeyReusedError for a key that came with another plan."""
        earlier = next((one for one in reversed(self.given) if key and (one.who, one.key) == (who, key)), None)
        if earlier is not None and earlier.plan_id != plan_id:
            raise KeyReusedError(f"this idempotency key came with plan {earlier.plan_id} before; write another one")
        if earlier is not None or self.proposal is None or self.proposal.plan_id != plan_id:
            return earlier
        given = self.proposal.approval
        return given if given is not None and (given.who, given.key) == (who, key) else None

    def approve(self, plan_id: str, who: str, how: str, key: str, now: float) -> tuple[Approvals, Approval, Notices]:
        """A person says yes to exactly this plan; the same request sent again changes nothing.

        Raises UnknownPlanError, ApprovalRefusedError (names the newer plan) and KeyReusedError.
        """
        state, told = self.at(now)
        earlier = state.answered(plan_id, who, key)
        if earlier is not None:
            return state, earlier, told
        proposal = state.waiting(plan_id)
        approval = Approval(plan_id, who, how, now, key)
        given = (*state.given, approval)[-MOST_REMEMBERED:]
        state = replace(state, proposal=replace(proposal, approval=approval), given=given)
        return state, approval, (*told, ApprovalGiven(now, plan_id, who, how))

    def waiting(self, plan_id: str) -> Proposal:
        """The plan that waits under this number. Raises UnknownPlanError and ApprovalRefusedError."""
        newer = "" if self.proposal is None else self.proposal.plan_id
        if self.proposal is None or newer != plan_id:
            raise self._refusal(plan_id, newer)
        if self.proposal.approval is not None:
            raise ApprovalRefusedError(f"plan {plan_id} was approved already, by {self.proposal.approval.who}")
        return self.proposal

    def _refusal(self, plan_id: str, newer: str) -> Exception:
        """Why a plan that does not wait cannot be approved."""
        hint = f"; plan {newer} waits now" if newer else ""
        ending = next((one for one in reversed(self.ended) if one.plan_id == plan_id), None)
        if ending is not None:
            text = f"plan {plan_id} does not wait any more: {ending.reason}{hint}"
            return ApprovalRefusedError(text, newer or ending.newer)
        if any(one.plan_id == plan_id for one in self.given):
            return ApprovalRefusedError(f"plan {plan_id} was approved before and was begun{hint}", newer)
        return UnknownPlanError("no plan of this number waits for approval")

    def marked(self, mark: str, now: float) -> tuple[Approvals, Notices]:
        """The annotation says this now; it counts if it was written for this plan, after the plan was proposed."""
        state, told = self.at(now)
        proposal = state.proposal
        if proposal is None or proposal.approval is not None:
            return state, told
        if proposal.stale_mark == UNKNOWN_MARK or (proposal.stale_mark and mark != proposal.stale_mark):
            known = mark if proposal.stale_mark == UNKNOWN_MARK else ""
            proposal = replace(proposal, stale_mark=known)
            state = replace(state, proposal=proposal)
        if mark != proposal.plan_id or mark == proposal.stale_mark:
            return state, told
        state, _, given = state.approve(proposal.plan_id, ANNOTATION, ANNOTATION, "", now)
        return state, (*told, *given)

    def take(self, now: float) -> tuple[Approvals, Proposal | None, Notices]:
        """The approved plan, to be carried out; handed out once."""
        state, told = self.at(now)
        if state.proposal is None or state.proposal.approval is None:
            return state, None, told
        return replace(state, proposal=None), state.proposal, told


def _moves(plan: Plan) -> tuple[Moves, Moves]:
    """What a plan does, without the words about it."""
    moves = [(move.wave, move.pod, move.from_node, move.to_node, move.evict_first, move.method) for move in plan.moves]
    return tuple(moves), tuple((place.wave, place.pod, place.node) for place in plan.placements)
