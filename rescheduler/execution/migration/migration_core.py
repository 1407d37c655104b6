"""What has become of one pod whose owner was asked to move it: what a look shows in, one act out; pure.

Nothing can be taken back once he was asked: what he does is waited for, and told. While he moves the pod it carries
his annotation; where that goes and the pod stands, he has given up.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS
from rescheduler.model.objects.pod import Pod

SURE_SECONDS: Final = 3.0
"""An annotation that goes right before its pod does is no failure, nor is one that comes back at once."""
REPLACED_SECONDS: Final = 10.0
"""How long after its pod has gone another one may take to appear, which in a migration was there before."""


class MigrationRules(NamedTuple):
    """``within_seconds``: how long a migration may take, from the moment at which its owner was asked."""

    within_seconds: float


class MigrationSight(NamedTuple):
    """What a look shows. ``old``: None once it is gone or another. ``landed_on``: the node of the new pod."""

    old: Pod | None
    landed_on: str | None


class MigrationState(NamedTuple):
    """``until``: by the clock that never jumps. ``has_begun``: the annotation was seen; ``unmarked_since``: since when
    it is not there any more; ``gone_since``: since when the pod is gone and no other one is there."""

    until: float
    has_begun: bool = False
    unmarked_since: float | None = None
    gone_since: float | None = None


class LookAgain(NamedTuple):
    """Look again later."""


class Moved(NamedTuple):
    """The old pod has gone, or ended, and the new one has a node."""


class Undone(NamedTuple):
    """He has given up: the pod stands where it was. ``why``: in words."""

    why: str


class Open(NamedTuple):
    """What becomes of the pod is not known, and not waited for any longer. ``why``: in words."""

    why: str


Act: TypeAlias = LookAgain | Moved | Undone | Open


def begun(rules: MigrationRules, now: float) -> MigrationState:
    """Whoever owns the pod is about to be asked."""
    return MigrationState(now + rules.within_seconds)


def decide(
    rules: MigrationRules, state: MigrationState, sight: MigrationSight, now: float
) -> tuple[MigrationState, Act]:
    """What a look makes of a migration, and what is to be done then."""
    if has_left(sight.old):
        return _left(state, sight, now)
    assert sight.old is not None
    if EVICTION_IN_PROGRESS in sight.old.annotations:
        state = state._replace(has_begun=True, unmarked_since=None)
    elif state.has_begun and not sight.old.is_terminating:
        since = now if state.unmarked_since is None else state.unmarked_since
        state = state._replace(unmarked_since=since)
        if now - since >= SURE_SECONDS:
            return state, Undone("whoever owns it has begun to move it, and has given up")
    if now < state.until:
        return state, LookAgain()
    did = "has begun to move it, and was not done" if state.has_begun else "has not begun to move it"
    return state, Open(f"whoever owns it {did} within {rules.within_seconds:g} s; he may yet")


def has_left(old: Pod | None) -> bool:
    """Whether a pod is gone, or has ended, as the one does whose machine runs elsewhere."""
    return old is None or old.is_finished


def _left(state: MigrationState, sight: MigrationSight, now: float) -> tuple[MigrationState, Act]:
    if sight.landed_on is not None:
        return state, Moved()
    since = now if state.gone_since is None else state.gone_since
    state = state._replace(gone_since=since)
    if now - since < REPLACED_SECONDS:
        return state, LookAgain()
    return state, Open("it is gone, and no other pod has taken its place")
