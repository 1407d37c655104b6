"""What a daemon tells while it runs: each listener (log, metrics, Events, audit, REST) makes its own of the same words.

Times (``at``) are seconds since the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rescheduler.model.daemon.ledger import LedgerEntry, Nomination
from rescheduler.model.daemon.rounds import Occasion, RoundReport
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.plan import Plan, PodReference


@dataclass(frozen=True)
class Started:
    """The daemon is up: caches are read, nothing was decided yet."""

    at: float
    version: str
    mode: str
    policy_id: str


@dataclass(frozen=True)
class Stopping:
    """The daemon ends; ``reason``: SIGTERM, Ctrl-C, a fault."""

    at: float
    reason: str


@dataclass(frozen=True)
class TriggerFired:
    """A trigger asks for a round."""

    at: float
    occasion: Occasion


@dataclass(frozen=True)
class RoundEnded:
    """A round is over."""

    at: float
    report: RoundReport


@dataclass(frozen=True)
class EvictionNoted:
    """An eviction's entry in the ledger has changed its state."""

    at: float
    entry: LedgerEntry


@dataclass(frozen=True)
class MoveChanged:
    """A move of the plan that is being carried out has come further. ``run_id``: of this run of the plan."""

    at: float
    run_id: str
    change: MoveChange


@dataclass(frozen=True)
class LeadershipChanged:
    """We lead from now on, or do not any more, or another one leads than before.

    ``holder``: who leads, "" where nobody is known to.
    """

    at: float
    is_leader: bool
    holder: str
    reason: str = ""


@dataclass(frozen=True)
class PolicyLoaded:
    """A policy is in force from now on. ``policy_id``: the beginning of its sha256."""

    at: float
    policy_id: str
    name: str
    mode: str


@dataclass(frozen=True)
class DefaultsBind:
    """What binds under the policy though it does not say so, and did not before an upgrade; told once."""

    at: float
    policy_id: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class ServerLacks:
    """What the API server does not have that the policy, or this version, counts on, in sentences; told once."""

    at: float
    policy_id: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class PolicyKept:
    """The policy's file cannot be used; the policy before stays in force."""

    at: float
    policy_id: str
    problem: str


@dataclass(frozen=True)
class PolicyHeld:
    """A new policy would reach further; it waits to be acknowledged, and the policy before stays in force."""

    at: float
    policy_id: str
    held_id: str
    widening: tuple[str, ...]


@dataclass(frozen=True)
class PolicyAcknowledged:
    """A person said yes to the policy that is held."""

    at: float
    held_id: str
    who: str


@dataclass(frozen=True)
class ApprovalWanted:
    """Under mode Approve a plan waits for a person until ``expires_at``."""

    at: float
    plan_id: str
    plan: Plan
    expires_at: float


@dataclass(frozen=True)
class ApprovalGiven:
    """A person said yes. ``how``: REST or annotation."""

    at: float
    plan_id: str
    who: str
    how: str


@dataclass(frozen=True)
class ApprovalEnded:
    """A plan does not wait any more: it has expired, or a newer one has taken its place."""

    at: float
    plan_id: str
    reason: str


@dataclass(frozen=True)
class Paused:
    """Nothing is carried out until resumed, or until ``until``."""

    at: float
    who: str
    reason: str
    until: float | None = None


@dataclass(frozen=True)
class Resumed:
    """The pause is over."""

    at: float
    who: str


@dataclass(frozen=True)
class CapacityRequested:
    """No rearrangement helps these pods; the autoscaler was asked for room. ``how``: as the policy names it."""

    at: float
    how: str
    pods: tuple[PodReference, ...]
    message: str


@dataclass(frozen=True)
class NodesOffered:
    """Emptied nodes are left to the autoscaler. ``how``: as the policy names it."""

    at: float
    how: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class SyncChanged:
    """A kind of object is watched again, or is not (any more); ``message`` says why not."""

    at: float
    kind: str
    is_synced: bool
    message: str = ""


@dataclass(frozen=True)
class ObjectsSetAside:
    """Objects of which something cannot be counted, and that were not told of before."""

    at: float
    objects: tuple[SetAside, ...]


@dataclass(frozen=True)
class NominationsFound:
    """Pods that we nominated to room which no plan makes any more: ``standing``, and ``cleared`` just now."""

    at: float
    standing: tuple[Nomination, ...]
    cleared: tuple[Nomination, ...]


@dataclass(frozen=True)
class Fault:
    """Something of ours failed and was survived. ``where``: the part."""

    at: float
    where: str
    message: str


Notice: TypeAlias = (
    Started
    | Stopping
    | TriggerFired
    | RoundEnded
    | EvictionNoted
    | MoveChanged
    | LeadershipChanged
    | PolicyLoaded
    | DefaultsBind
    | ServerLacks
    | PolicyKept
    | PolicyHeld
    | PolicyAcknowledged
    | ApprovalWanted
    | ApprovalGiven
    | ApprovalEnded
    | Paused
    | Resumed
    | CapacityRequested
    | NodesOffered
    | SyncChanged
    | ObjectsSetAside
    | NominationsFound
    | Fault
)
