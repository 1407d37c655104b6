"""Groups that carefulness adds: what ramp-up and circuit breaker leave, and StatefulSets one pod at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.disruption.breaker import is_on_trial
from rescheduler.disruption.circumstances import Circumstances
from rescheduler.disruption.ramp_up import allowance
from rescheduler.model.disruption import DisruptionGroup
from rescheduler.policy.models import Permission
from rescheduler.policy.values import format_duration

STATEFUL_SET = "StatefulSet"


def careful_groups(circumstances: Circumstances, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """Nothing where the policy is permissive and a person watches."""
    if circumstances.is_daemon and movable:
        yield from _ramp_up(circumstances, movable)
        if is_on_trial(circumstances.breaker):
            # One a wave, not one a plan: a trial that is repaid closes the breaker before the next wave.
            yield DisruptionGroup("Breaker", "the circuit breaker's trial", 1, tuple(movable))
    if circumstances.policy.disruption.unsettled is Permission.DENY or circumstances.is_daemon:
        yield from _stateful_sets(circumstances, movable)


def _ramp_up(circumstances: Circumstances, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    rules = circumstances.policy.disruption.ramp_up
    if rules is not None:
        allowed, left = allowance(circumstances.ledger, rules, circumstances.cluster.taken_at)
        name = f"the ramp-up ({allowed} in {format_duration(rules.window)})"
        yield DisruptionGroup("RampUp", name, left, tuple(movable), left)


def _stateful_sets(circumstances: Circumstances, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
    """One pod of each in one plan: which ordinal comes first is then no question."""
    members: dict[tuple[str, str], list[int]] = {}
    for index in movable:
        owner = circumstances.cluster.owner_of(circumstances.cluster.pods[index])
        if owner is not None and owner.kind == STATEFUL_SET:
            members.setdefault((owner.key, owner.uid), []).append(index)
    for (name, uid), pods in sorted(members.items()):
        left = max(0, 1 - circumstances.sent.get(uid, 0))
        yield DisruptionGroup(STATEFUL_SET, name, left, tuple(pods), left)
