"""What a daemon needs to be allowed under a policy: docs/rights.md as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.adapters.kubernetes.autoscalers.autoscaler_notices import EVENTS, NODE_CLAIMS, STATUS
from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import COLLECTIONS, PLACEHOLDERS, TEMPLATES
from rescheduler.adapters.kubernetes.guidance import guidance_support as guide_support
from rescheduler.adapters.kubernetes.guidance import guidance_support as hold_support
from rescheduler.adapters.kubernetes.guidance import node_writes
from rescheduler.adapters.kubernetes.guidance.node_writes import NEEDED as NEEDED_FOR_MARKS
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KINDS, ObjectKind
from rescheduler.adapters.kubernetes.objects.autoscaler import STATUS_NAME, STATUS_NAMESPACE
from rescheduler.adapters.kubernetes.rights.needed_rights import EVICT
from rescheduler.adapters.kubernetes.rights.rights import NeededRight, Right
from rescheduler.policy.fields.autoscaler import ScaleDown, ScaleUp
from rescheduler.policy.fields.policy import Guidance, Mode, Policy, elects_leader

# What a daemon needs to be allowed to hear an autoscaler, to ask it for room, and to offer it nodes.

HEARS: Final = "AutoscalerEvents"
"""The trigger that listens."""


def autoscaler_needs(policy: Policy) -> Iterator[NeededRight]:
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
            yield NeededRight(right, policy.hold.namespace, "ask an autoscaler for room", is_vital=False)
    if down is not ScaleDown.LEAVE:
        for right in NEEDED_FOR_MARKS:
            yield NeededRight(right, "", "offer emptied nodes", is_vital=False)


def _hearing() -> Iterator[NeededRight]:
    for verb in ("list", "watch"):
        for kind in (EVENTS, NODE_CLAIMS):
            yield NeededRight(_right(verb, kind), "", "hear the autoscaler", is_vital=False)
        status = _right(verb, STATUS)._replace(is_local=True, object_name=STATUS_NAME)
        yield NeededRight(status, STATUS_NAMESPACE, "hear the autoscaler", is_vital=False)


def _right(verb: str, kind: ObjectKind) -> Right:
    return Right(verb, kind.path.rpartition("/")[2], kind.api_version.rpartition("/")[0], is_local=False)


EVENT: Final = Right("create", "events", "events.k8s.io", is_local=False)


def daemon_needs(policy: Policy) -> tuple[NeededRight, ...]:
    """Everything that a daemon under this policy asks the API server for, questions about rights aside."""
    return tuple(_needs(policy))


def _needs(policy: Policy) -> Iterator[NeededRight]:
    yield from _reading(policy)
    yield from autoscaler_needs(policy)
    if policy.api is not None:
        for resource, group in (
            ("tokenreviews", "authentication.k8s.io"),
            ("subjectaccessreviews", "authorization.k8s.io"),
        ):
            yield NeededRight(Right("create", resource, group, is_local=False), "", "know who calls the API")
    if policy.mode is Mode.DRY_RUN:
        return
    yield from _evicting(policy)
    if elects_leader(policy):
        yield from _leading(policy)
    if policy.guidance is not Guidance.PREDICT:
        yield from _keeping(policy)


def _reading(policy: Policy) -> Iterator[NeededRight]:
    for kind in KINDS:
        for verb in ("list", "watch"):
            right = Right(verb, kind.path.rpartition("/")[2], _group(kind), is_local=False)
            yield NeededRight(right, "", "see the cluster", is_vital=kind.name not in DISPENSABLE)
    yield NeededRight(_config_map("get", policy.ledger.name), policy.hold.namespace, "know of earlier evictions")
    for source in policy.schedulers:
        if source.config_map is not None:
            namespace, _, name = source.config_map.partition("/")
            yield NeededRight(_config_map("get", name), namespace, "know how a scheduler is configured")


def _evicting(policy: Policy) -> Iterator[NeededRight]:
    namespaces = policy.scope.namespaces.include
    for namespace in namespaces or ("",):
        yield NeededRight(EVICT._replace(is_local=namespaces is not None), namespace, "evict pods")


def _leading(policy: Policy) -> Iterator[NeededRight]:
    election = policy.leader_election
    lease = Right("create", "leases", "coordination.k8s.io")
    yield NeededRight(lease, election.namespace, "take turns with others")
    for verb in ("get", "update"):
        right = lease._replace(verb=verb, object_name=election.name)
        yield NeededRight(right, election.namespace, "take turns with others")


def _keeping(policy: Policy) -> Iterator[NeededRight]:
    """The ledger, placeholders, Events, and what the policy's guidance takes besides."""
    holds = policy.hold.namespace
    for right in (_config_map("create"), _config_map("update", policy.ledger.name)):
        yield NeededRight(right, holds, "write down what is evicted")
    for right in hold_support.NEEDED_FOR_HOLDS:
        yield NeededRight(right, "" if not right.is_local else holds, "keep room")
    for verb in ("get", "delete"):
        yield NeededRight(Right(verb, "pods"), holds, "clean up placeholders without a Job", is_vital=False)
    yield NeededRight(EVENT, "", "tell of it by Events", is_vital=False)
    if policy.guidance is Guidance.GUIDE:
        for right in guide_support.NEEDED_FOR_GATES:
            yield NeededRight(right, "" if not right.is_local else holds, "lead replacements to their nodes")
    if policy.guidance is Guidance.TAINT:
        for right in node_writes.NEEDED:
            yield NeededRight(right, "", "close nodes by a taint")


def _config_map(verb: str, name: str = "") -> Right:
    return Right(verb, "configmaps", object_name=name)


def _group(kind: ObjectKind) -> str:
    version = kind.api_version
    return version.rpartition("/")[0]
