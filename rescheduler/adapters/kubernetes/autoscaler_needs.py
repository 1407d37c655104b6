"""What a daemon needs to be allowed to hear an autoscaler, to ask it for room, and to offer it nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.adapters.kubernetes.autoscaler_notices import EVENTS, NODE_CLAIMS, STATUS
from rescheduler.adapters.kubernetes.capacity_objects import COLLECTIONS, PLACEHOLDERS, TEMPLATES
from rescheduler.adapters.kubernetes.conversion.autoscaler import STATUS_NAME, STATUS_NAMESPACE
from rescheduler.adapters.kubernetes.kinds import Kind
from rescheduler.adapters.kubernetes.needs import Need
from rescheduler.adapters.kubernetes.node_writes import NEEDED as NEEDED_FOR_MARKS
from rescheduler.adapters.kubernetes.rights import Right
from rescheduler.policy.autoscaler import ScaleDown, ScaleUp
from rescheduler.policy.models import Mode, Policy

HEARS: Final = "AutoscalerEvents"
"""The trigger that listens."""


def autoscaler_needs(policy: Policy) -> Iterator[Need]:
    """None of it is vital: what cannot be heard, asked or offered is told of when it is wanted."""
    up, down = policy.autoscaler.scale_up, policy.autoscaler.scale_down
    is_asked = (up, down) != (ScaleUp.LEAVE, ScaleDown.LEAVE)
    if is_asked or any(trigger.name == HEARS for trigger in policy.triggers):
        yield from _hearing()
    if policy.mode is Mode.DRY_RUN:
        return
    if up is not ScaleUp.LEAVE:
        collection = COLLECTIONS[up.value]
        rights = collection.rights if up.value == PLACEHOLDERS else (*collection.rights, *TEMPLATES.rights)
        for right in rights:
            yield Need(right, policy.hold.namespace, "ask an autoscaler for room", is_vital=False)
    if down is not ScaleDown.LEAVE:
        for right in NEEDED_FOR_MARKS:
            yield Need(right, "", "offer emptied nodes", is_vital=False)


def _hearing() -> Iterator[Need]:
    for verb in ("list", "watch"):
        for kind in (EVENTS, NODE_CLAIMS):
            yield Need(_right(verb, kind), "", "hear the autoscaler", is_vital=False)
        status = _right(verb, STATUS)._replace(is_local=True, object_name=STATUS_NAME)
        yield Need(status, STATUS_NAMESPACE, "hear the autoscaler", is_vital=False)


def _right(verb: str, kind: Kind) -> Right:
    return Right(verb, kind.path.rpartition("/")[2], kind.api_version.rpartition("/")[0], is_local=False)
