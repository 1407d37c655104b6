"""What is to be done next for one pod that was taken out of its ReplicaSet: what a look shows in, one act out; pure.

A method whose eviction comes last: the pod serves on until its replacement is Ready, has been so for as long as its
owner asks for, and answers wherever the old one does. Until then everything that goes wrong, and everything that the
owner wants otherwise by now, gives the pod back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload

EVICT_AGAIN_SECONDS: Final = 1.0
"""A budget's count follows within a fraction of that."""
TRY_LATER: Final = frozenset(
    {"BudgetExhausted", "BudgetNotObserved", "TooManyRequests", "WebhookDenied", "Conflict", "Failed"}
)
"""Answers to the eviction that another try may change. After a lost one the pod may be asked for again: its replacement
is Ready, and no other pod can be meant."""
_WHOLE_SECOND: Final = 1.0
"""Times of the API server are cut to whole seconds."""


class SurgeRules(NamedTuple):
    """``ready_within_seconds``: from the moment at which a pod is taken out until its replacement may take over, at
    most. ``settle_seconds``: how long that one has to answer everywhere before the old one is evicted. ``lease``: see
    Detachment."""

    ready_within_seconds: float
    settle_seconds: float
    lease: str = ""


class OwnerMark(NamedTuple):
    """What an owner wants, in as much as a surge rests on it."""

    uid: str
    generation: int
    replicas: int | None
    is_terminating: bool


def marks_of(owners: Iterable[Workload | None]) -> tuple[OwnerMark | None, ...]:
    """Of a ReplicaSet and its Deployment; None for one that is gone."""
    return tuple(
        None if item is None else OwnerMark(item.uid, item.generation, item.desired_replicas, item.is_terminating)
        for item in owners
    )


class SurgeSight(NamedTuple):
    """What a look shows. ``old``: None once it is gone or another; ``is_out``: it is out of its ReplicaSet still.

    ``answers``: its replacement gets requests of everybody who knows the old pod. ``failure``: why the replacement
    cannot work. ``time``: of the cluster's clock, seconds since the epoch.
    """

    old: Pod | None
    is_out: bool
    new: Pod | None
    owners: tuple[OwnerMark | None, ...]
    answers: bool
    failure: str | None
    time: float


class SurgeState(NamedTuple):
    """``owners``: as they were when the pod was taken out; ``until``: by the clock that never jumps.

    ``settling_since``: since when the replacement is Ready and answers; ``evict_at``: not before that.
    """

    owners: tuple[OwnerMark | None, ...]
    min_ready_seconds: int
    until: float
    settling_since: float | None = None
    evict_at: float = 0.0


class Wait(NamedTuple):
    """Look again later."""


class Evict(NamedTuple):
    """The old pod is of no use any more: ask the gate, then the Eviction API."""


class GiveBack(NamedTuple):
    """Put everything back as it was. ``why``: in words."""

    why: str


class Gone(NamedTuple):
    """The old pod has left, or is about to; whoever did that, its owner stands and wants what it wanted."""


Act: TypeAlias = Wait | Evict | GiveBack | Gone


def begun(rules: SurgeRules, owners: Iterable[Workload | None], now: float) -> SurgeState:
    """A pod is about to be taken out; ``owners``: as they were read just now, the ReplicaSet first."""
    known = tuple(owners)
    first = known[0] if known else None
    return SurgeState(
        marks_of(known), 0 if first is None else first.min_ready_seconds, now + rules.ready_within_seconds
    )


def decide(rules: SurgeRules, state: SurgeState, sight: SurgeSight, now: float) -> tuple[SurgeState, Act]:
    """What a look makes of a surge, and what is to be done then."""
    if sight.old is None or not sight.old.is_active:
        # Where the Eviction API was asked it may have been us; else it went with its owner, and nobody follows.
        changed = None if state.evict_at else _what_changed(state.owners, sight.owners)
        return state, Gone() if changed is None else GiveBack(changed)
    against = _objection(state, sight, now, rules)
    if against is not None:
        return state, GiveBack(against)
    if not is_ready(sight.new, state.min_ready_seconds, sight.time) or not sight.answers:
        return state._replace(settling_since=None), Wait()
    since = now if state.settling_since is None else state.settling_since
    state = state._replace(settling_since=since)
    is_due = now - since >= rules.settle_seconds and now >= state.evict_at
    return state, Evict() if is_due else Wait()


def put_off(state: SurgeState, now: float) -> SurgeState:
    """The eviction may not be asked for yet: once more a moment later, as long as there is time."""
    return state._replace(evict_at=now + EVICT_AGAIN_SECONDS)


def is_ready(new: Pod | None, min_ready_seconds: int, time: float) -> bool:
    """Whether a replacement is Ready, and has been so for as long as its owner asks for."""
    if new is None or new.node_name is None or not new.is_ready or new.is_terminating:
        return False
    if not min_ready_seconds:
        return True
    return new.ready_at is not None and time - new.ready_at >= min_ready_seconds + _WHOLE_SECOND


def _objection(state: SurgeState, sight: SurgeSight, now: float, rules: SurgeRules) -> str | None:
    """Why a pod is given back; None: nothing speaks against going on."""
    if not sight.is_out:
        return "somebody else has given it back"
    changed = _what_changed(state.owners, sight.owners)
    if changed is not None:
        return changed
    if sight.failure is not None:
        return f"its replacement does not work: {sight.failure}"
    if now >= state.until:
        return f"its replacement was not Ready and answering within {rules.ready_within_seconds:g} s"
    return None


def _what_changed(before: tuple[OwnerMark | None, ...], after: tuple[OwnerMark | None, ...]) -> str | None:
    for old, new in zip(before, after, strict=True):
        if old == new:
            continue
        if new is None or old is None or new.uid != old.uid or new.is_terminating:
            return "its owner was deleted meanwhile"
        if new.replicas != old.replicas:
            return f"its owner was scaled from {old.replicas} to {new.replicas} meanwhile"
        return "its owner was changed meanwhile"
    return None
