"""The documents of the daemon's API. Times are RFC 3339, in UTC, to the millisecond."""

from __future__ import annotations

from typing import Annotated

import msgspec

from rescheduler.model.plan.plan import API_VERSION, ObjectiveResult, Plan, PlanResult, PodReference, Refusal

LONGEST_PAUSE: int = 30 * 86400
Reason = Annotated[str, msgspec.Meta(max_length=500)]


class TriggerRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Asks for a round."""

    reason: Reason = ""


class PauseRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Asks for a pause; without ``seconds`` it lasts until somebody resumes."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    seconds: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_PAUSE)] | None = None


class ResumeRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Asks to go on; has no fields."""


class ApproveRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Says yes to the plan that the address names; has no fields."""


class AcknowledgeRequest(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Says yes to a policy that reaches further, by the number that it was told under."""

    held_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class TriggerOutcome(msgspec.Struct, rename="camel"):
    """A round will be asked for; which one it became stands in the rounds."""

    at: str
    who: str
    reason: str
    api_version: str = API_VERSION
    kind: str = "TriggerOutcome"


class SwitchState(msgspec.Struct, rename="camel"):
    """Whether somebody has paused. ``etag``: what If-Match may name."""

    paused: bool
    etag: str
    who: str = ""
    reason: str = ""
    since: str | None = None
    until: str | None = None
    api_version: str = API_VERSION
    kind: str = "Switch"


class ApprovalState(msgspec.Struct, rename="camel"):
    """Who has said yes to a plan."""

    plan_id: str
    who: str
    how: str
    at: str
    api_version: str = API_VERSION
    kind: str = "Approval"


class Acknowledgement(msgspec.Struct, rename="camel"):
    """A held policy will come in force."""

    held_id: str
    who: str
    api_version: str = API_VERSION
    kind: str = "Acknowledgement"


class LeaderState(msgspec.Struct, rename="camel"):
    """Whether this instance leads, and who does as far as it knows."""

    is_leader: bool
    holder: str


class HeldPolicy(msgspec.Struct, rename="camel"):
    """A policy that would reach further, and waits to be acknowledged."""

    held_id: str
    since: str
    widening: list[str]


class PolicyState(msgspec.Struct, rename="camel"):
    """The policy in force. ``problem``: why the file cannot be used now, "" where it can."""

    name: str
    policy_id: str
    mode: str
    problem: str = ""
    held: HeldPolicy | None = None


class SnapshotState(msgspec.Struct, rename="camel"):
    """The newest snapshot."""

    taken_at: str | None
    nodes: int
    pods: int
    pending_pods: int


class FaultState(msgspec.Struct, rename="camel"):
    """Something that failed and was survived."""

    at: str
    where: str
    message: str


class State(msgspec.Struct, rename="camel"):
    """How the daemon stands. ``waiting``: the plan that waits for a person; ``outOfSync``: kinds not watched now.

    ``moves``: how many moves of the plan under way, or of the last one, have come how far; ``runId``: of that run.
    """

    version: str
    started_at: str | None
    leader: LeaderState
    policy: PolicyState
    switch: SwitchState
    waiting: str | None
    last_round: int | None
    snapshot: SnapshotState | None
    out_of_sync: dict[str, str]
    faults: list[FaultState]
    run_id: str = ""
    moves: dict[str, int] = {}
    api_version: str = API_VERSION
    kind: str = "State"


class OccasionState(msgspec.Struct, rename="camel"):
    """Why a round ran."""

    trigger: str
    reason: str
    at: str
    pods: list[PodReference]
    nodes: list[str]


class RoundSummary(msgspec.Struct, rename="camel"):
    """One round. ``landed``: moves whose pod runs again; ``reason``: why nothing, or no more, was carried out."""

    number: int
    started_at: str
    ended_at: str
    mode: str
    policy_id: str
    is_dry_run: bool
    occasions: list[OccasionState]
    plan_id: str
    planned: int
    landed: int
    reason: str
    approved_by: str
    seconds: dict[str, float]
    objectives: list[ObjectiveResult]


class Round(RoundSummary, rename="camel", kw_only=True):
    """One round with its plan, and with what became of it."""

    plan: Plan | None = None
    result: PlanResult | None = None
    api_version: str = API_VERSION
    kind: str = "Round"


class RoundList(msgspec.Struct, rename="camel"):
    """The last rounds, the newest first. ``continue``: what the next page is asked for with, "" on the last one."""

    items: list[RoundSummary]
    continue_: str = msgspec.field(name="continue", default="")
    api_version: str = API_VERSION
    kind: str = "RoundList"


class PlanSummary(msgspec.Struct, rename="camel"):
    """One plan. ``status``: Waiting, Approved, Ended, CarriedOut or NotCarriedOut, with the ``reason``."""

    id: str
    status: str
    reason: str
    round: int | None
    moves: int
    placements: int
    proposed_at: str | None = None
    expires_at: str | None = None
    approved_by: str = ""
    newer_plan: str = ""


class PlanRecord(PlanSummary, rename="camel", kw_only=True):
    """One plan whole."""

    plan: Plan
    result: PlanResult | None = None
    api_version: str = API_VERSION
    kind: str = "PlanRecord"


class PlanList(msgspec.Struct, rename="camel"):
    """The last plans, the newest first."""

    items: list[PlanSummary]
    continue_: str = msgspec.field(name="continue", default="")
    api_version: str = API_VERSION
    kind: str = "PlanList"


class RefusalList(msgspec.Struct, rename="camel"):
    """What the last round that made a plan left alone. ``round`` null: none has yet."""

    round: int | None
    items: list[Refusal]
    continue_: str = msgspec.field(name="continue", default="")
    api_version: str = API_VERSION
    kind: str = "RefusalList"
