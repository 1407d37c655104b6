"""What a daemon needs to be allowed under a policy: docs/rights.md as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rescheduler.adapters.kubernetes.autoscalers.autoscaler_notices import EVENTS, NODE_CLAIMS, STATUS
from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import COLLECTIONS, PLACEHOLDERS, TEMPLATES
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KINDS, ObjectKind
from rescheduler.adapters.kubernetes.objects.autoscaler import STATUS_NAME, STATUS_NAMESPACE
from rescheduler.adapters.kubernetes.rights.parts import (
    CHANGE_NODES,
    CLEAN_PODS,
    EVICT,
    GUIDE_POLICY,
    LEASE,
    MAKE_EVENTS,
    NEEDED_FOR_GATES,
    NEEDED_FOR_HOLDS,
    READ_LEDGER,
    READ_SHARD,
    REVIEWS,
    SURGE,
    WRITE_LEDGER,
)
from rescheduler.adapters.kubernetes.rights.rights import NeededRight, Right
from rescheduler.policy.fields.daemon.autoscaler import ScaleDown, ScaleUp
from rescheduler.policy.fields.policy import Guidance, Mode, Policy, elects_leader, may_surge

EVENTS_OF_NODES: Final = "default"
"""The namespace of Events about what has no namespace."""

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
    if down in (ScaleDown.ANNOTATE, ScaleDown.TAINT):
        for right in CHANGE_NODES:
            yield NeededRight(right, "", "offer emptied nodes", is_vital=False)


def _hearing() -> Iterator[NeededRight]:
    for verb in ("list", "watch"):
        for kind in (EVENTS, NODE_CLAIMS):
            yield NeededRight(_right(verb, kind), "", "hear the autoscaler", is_vital=False)
        status = _right(verb, STATUS)._replace(is_local=True, object_name=STATUS_NAME)
        yield NeededRight(status, STATUS_NAMESPACE, "hear the autoscaler", is_vital=False)


def _right(verb: str, kind: ObjectKind) -> Right:
    return Right(verb, kind.path.rpartition("/")[2], kind.api_version.rpartition("/")[0], is_local=False)


def daemon_needs(policy: Policy) -> tuple[NeededRight, ...]:
    """Everything that a daemon under this policy asks the API server for, questions about rights aside."""
    return tuple(_needs(policy))


def _needs(policy: Policy) -> Iterator[NeededRight]:
    yield from _reading(policy)
    yield from autoscaler_needs(policy)
    if policy.api is not None:
        for right in REVIEWS.rights:
            yield NeededRight(right, "", "know who calls the API")
    if policy.mode is Mode.DRY_RUN:
        return
    yield from _evicting(policy)
    if may_surge(policy):
        for right in SURGE.rights:
            yield from _where_pods_move(policy, right, "move pods by surge")
    if elects_leader(policy):
        yield from _leading(policy)
    if policy.guidance is not Guidance.PREDICT:
        yield from _keeping(policy)


def _reading(policy: Policy) -> Iterator[NeededRight]:
    for kind in KINDS:
        for verb in ("list", "watch"):
            right = Right(verb, kind.path.rpartition("/")[2], _group(kind), is_local=False)
            yield NeededRight(right, "", "see the cluster", is_vital=kind.name not in DISPENSABLE)
    for right in (READ_LEDGER, READ_SHARD):
        yield NeededRight(_named(right, policy), policy.hold.namespace, "know of earlier evictions")
    yield from _secrets(policy)
    for source in policy.schedulers:
        if source.config_map is not None:
            namespace, _, name = source.config_map.partition("/")
            right = Right("get", "configmaps", object_name=name)
            yield NeededRight(right, namespace, "know how a scheduler is configured")


def _secrets(policy: Policy) -> Iterator[NeededRight]:
    """The Secrets that providers name (NAMESPACE/NAME/KEY), each by its own name; no role that is shipped has them."""
    named = [text for provider in policy.usage.providers for text in _named_secrets(provider.args)]
    for text in dict.fromkeys(named):
        namespace, name, _ = text.split("/", 2)
        yield NeededRight(Right("get", "secrets", object_name=name), namespace, "read a credential", is_vital=False)


def _named_secrets(found: Any) -> Iterator[str]:
    """Values of ``secret`` wherever credentials may stand in a provider's arguments."""
    for key, value in found.items() if isinstance(found, Mapping) else ():
        if key == "secret" and isinstance(value, str) and value.count("/") >= 2:
            yield value
        else:
            yield from _named_secrets(value)


def _evicting(policy: Policy) -> Iterator[NeededRight]:
    yield from _where_pods_move(policy, EVICT._replace(is_local=False), "evict pods")


def _where_pods_move(policy: Policy, right: Right, purpose: str) -> Iterator[NeededRight]:
    """A right to pods of workloads: in all namespaces, or in those alone whose pods may be moved."""
    namespaces = policy.scope.namespaces.include
    for namespace in namespaces or ("",):
        yield NeededRight(right._replace(is_local=namespaces is not None), namespace, purpose)


def _leading(policy: Policy) -> Iterator[NeededRight]:
    election = policy.leader_election
    for right in LEASE.rights:
        named = right._replace(object_name=election.name) if right.object_name else right
        yield NeededRight(named, election.namespace, "take turns with others")


def _keeping(policy: Policy) -> Iterator[NeededRight]:
    """The ledger, placeholders, Events, and what the policy's guidance takes besides."""
    holds = policy.hold.namespace
    for right in (*WRITE_LEDGER, READ_SHARD._replace(verb="update")):
        yield NeededRight(_named(right, policy), holds, "write down what is evicted")
    for right in NEEDED_FOR_HOLDS:
        yield from _given(policy, right, "keep room")
    for right in CLEAN_PODS:
        yield NeededRight(right, holds, "clean up placeholders without a Job", is_vital=False)
    for right in MAKE_EVENTS.rights:
        for need in _telling(policy, right):
            yield need._replace(is_vital=False)
    if policy.guidance is Guidance.GUIDE:
        for right in NEEDED_FOR_GATES:
            yield from _given(policy, right, "lead replacements to their nodes")
        for right in GUIDE_POLICY.rights:
            yield NeededRight(right, "", "see whether the gate is installed")
    if policy.guidance is Guidance.TAINT:
        for right in CHANGE_NODES:
            yield NeededRight(right, "", "close nodes by a taint")


def _telling(policy: Policy, right: Right) -> Iterator[NeededRight]:
    """Events stand beside what they are about: pods and owners, the Lease, and nodes, which are of no namespace."""
    purpose = "tell of it by Events"
    yield from _where_pods_move(policy, right, purpose)
    if policy.scope.namespaces.include is None:
        return
    here = right._replace(is_local=True)
    if elects_leader(policy):
        yield NeededRight(here, policy.leader_election.namespace, purpose)
    if policy.autoscaler.scale_down is not ScaleDown.LEAVE:
        yield NeededRight(here, EVENTS_OF_NODES, purpose)


def _given(policy: Policy, right: Right, purpose: str) -> Iterator[NeededRight]:
    """A local right in the hold namespace, any other where pods move."""
    if right.is_local:
        yield NeededRight(right, policy.hold.namespace, purpose)
    else:
        yield from _where_pods_move(policy, right, purpose)


def _named(right: Right, policy: Policy) -> Right:
    """For the ledger as the policy calls it, and what belongs to it."""
    return right._replace(object_name=right.object_name.replace(READ_LEDGER.object_name, policy.ledger.name, 1))


def _group(kind: ObjectKind) -> str:
    version = kind.api_version
    return version.rpartition("/")[0]
