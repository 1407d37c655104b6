"""What a daemon needs to be allowed under a policy: docs/rights.md as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.adapters.kubernetes import guide_support, hold_support, node_writes
from rescheduler.adapters.kubernetes.autoscaler_needs import autoscaler_needs
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KINDS, Kind
from rescheduler.adapters.kubernetes.needed_rights import EVICT
from rescheduler.adapters.kubernetes.needs import Need
from rescheduler.adapters.kubernetes.rights import Right
from rescheduler.policy.electing import elects_leader
from rescheduler.policy.models import Guidance, Mode, Policy

EVENT: Final = Right("create", "events", "events.k8s.io", is_local=False)


def daemon_needs(policy: Policy) -> tuple[Need, ...]:
    """Everything that a daemon under this policy asks the API server for, questions about rights aside."""
    return tuple(_needs(policy))


def _needs(policy: Policy) -> Iterator[Need]:
    yield from _reading(policy)
    yield from autoscaler_needs(policy)
    if policy.api is not None:
        for resource, group in (
            ("tokenreviews", "authentication.k8s.io"),
            ("subjectaccessreviews", "authorization.k8s.io"),
        ):
            yield Need(Right("create", resource, group, is_local=False), "", "know who calls the API")
    if policy.mode is Mode.DRY_RUN:
        return
    yield from _evicting(policy)
    if elects_leader(policy):
        yield from _leading(policy)
    if policy.guidance is not Guidance.PREDICT:
        yield from _keeping(policy)


def _reading(policy: Policy) -> Iterator[Need]:
    for kind in KINDS:
        for verb in ("list", "watch"):
            right = Right(verb, kind.path.rpartition("/")[2], _group(kind), is_local=False)
            yield Need(right, "", "see the cluster", is_vital=kind.name not in DISPENSABLE)
    yield Need(_config_map("get", policy.ledger.name), policy.hold.namespace, "know of earlier evictions")
    for source in policy.schedulers:
        if source.config_map is not None:
            namespace, _, name = source.config_map.partition("/")
            yield Need(_config_map("get", name), namespace, "know how a scheduler is configured")


def _evicting(policy: Policy) -> Iterator[Need]:
    namespaces = policy.scope.namespaces.include
    for namespace in namespaces or ("",):
        yield Need(EVICT._replace(is_local=namespaces is not None), namespace, "evict pods")


def _leading(policy: Policy) -> Iterator[Need]:
    election = policy.leader_election
    lease = Right("create", "leases", "coordination.k8s.io")
    yield Need(lease, election.namespace, "take turns with others")
    for verb in ("get", "update"):
        right = lease._replace(verb=verb, object_name=election.name)
        yield Need(right, election.namespace, "take turns with others")


def _keeping(policy: Policy) -> Iterator[Need]:
    """The ledger, placeholders, Events, and what the policy's guidance takes besides."""
    holds = policy.hold.namespace
    for right in (_config_map("create"), _config_map("update", policy.ledger.name)):
        yield Need(right, holds, "write down what is evicted")
    for right in hold_support.NEEDED_FOR_HOLDS:
        yield Need(right, "" if not right.is_local else holds, "keep room")
    for verb in ("get", "delete"):
        yield Need(Right(verb, "pods"), holds, "clean up placeholders without a Job", is_vital=False)
    yield Need(EVENT, "", "tell of it by Events", is_vital=False)
    if policy.guidance is Guidance.GUIDE:
        for right in guide_support.NEEDED_FOR_GATES:
            yield Need(right, "" if not right.is_local else holds, "lead replacements to their nodes")
    if policy.guidance is Guidance.TAINT:
        for right in node_writes.NEEDED:
            yield Need(right, "", "close nodes by a taint")


def _config_map(verb: str, name: str = "") -> Right:
    return Right(verb, "configmaps", object_name=name)


def _group(kind: Kind) -> str:
    version = kind.api_version
    return version.rpartition("/")[0]
