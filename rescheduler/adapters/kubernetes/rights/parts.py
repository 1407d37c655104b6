"""The rights of the rescheduler, described once: the parts that ``deploy/`` grants one by one.

What is asked of a cluster follows from here; a test compares the roles of ``deploy/`` and the table of docs/rights.md.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.ledger.ledger_text import SLOTS, shard_name
from rescheduler.adapters.kubernetes.rights.rights import Right


class RightsPart(NamedTuple):
    """What one role grants. ``role``: its name; ``file``: the one in ``deploy/`` that holds it."""

    role: str
    rights: tuple[Right, ...]
    file: str = "acting.yaml"


def rights_to(verbs: str, resource: str, group: str = "", **more: Any) -> tuple[Right, ...]:
    """One right for each verb, with the other fields of ``Right``."""
    return tuple(Right(verb, resource, group, **more) for verb in verbs.split())


EVICT: Final = Right("create", "pods", subresource="eviction")
EXECUTE: Final = RightsPart("rescheduler-execute", (EVICT._replace(is_local=False),))
READ_LEDGER: Final = Right("get", "configmaps", object_name="rescheduler-ledger")
_SHARDS: Final = tuple(
    READ_LEDGER._replace(object_name=shard_name("rescheduler-ledger", slot)) for slot in range(SLOTS)
)
READ_SHARD: Final = _SHARDS[0]
"""One is asked about for all: a role that knows of shards lists every name."""
LEDGER_READER: Final = RightsPart("rescheduler-ledger-reader", (READ_LEDGER, *_SHARDS), "reading.yaml")
WRITE_LEDGER: Final = (Right("create", "configmaps"), READ_LEDGER._replace(verb="update"))
LEDGER: Final = RightsPart(
    "rescheduler-ledger",
    (*WRITE_LEDGER, READ_LEDGER, *_SHARDS, *(right._replace(verb="update") for right in _SHARDS)),
)
NOMINATE: Final = RightsPart("rescheduler-nominate", rights_to("patch", "pods", subresource="status", is_local=False))
MAKE_EVENTS: Final = RightsPart("rescheduler-events", rights_to("create", "events", "events.k8s.io", is_local=False))
CLEAN_PODS: Final = rights_to("get delete", "pods")
"""Only ``clean`` does, for placeholders without a Job."""
_PLACEHOLDERS: Final = (
    *rights_to("create get list patch delete", "jobs", "batch"),
    *rights_to("list", "pods"),
    *rights_to("patch", "pods", subresource="status"),
)
HOLD: Final = RightsPart("rescheduler-hold", (*_PLACEHOLDERS, *CLEAN_PODS))
NEEDED_FOR_HOLDS: Final = (*_PLACEHOLDERS, *NOMINATE.rights)
NEEDED_FOR_GATES: Final = (
    *rights_to("patch", "pods", is_local=False),
    *rights_to("create", "pods"),
    *rights_to("create", "configmaps"),
    *rights_to("get update delete", "configmaps", object_name="rescheduler-guide"),
)
"""Of the ConfigMaps only the rule's own, but for creating it."""
_SEE_RULE: Final = tuple(
    Right("get", kind, "admissionregistration.k8s.io", is_local=False, object_name="rescheduler-guide")
    for kind in ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings")
)
GUIDE: Final = RightsPart("rescheduler-guide", NEEDED_FOR_GATES, "guide-binding.yaml")
GUIDE_POLICY: Final = RightsPart("rescheduler-guide-policy", _SEE_RULE, "guide-binding.yaml")
"""A part of its own, since it can only be bound for the whole cluster; GUIDE may be bound in single namespaces."""
CHANGE_NODES: Final = rights_to("get patch", "nodes", is_local=False)
SURGE: Final = RightsPart(
    "rescheduler-surge",
    (
        *rights_to("patch", "pods", is_local=False),
        *rights_to("get list", "endpointslices", "discovery.k8s.io", is_local=False),
        *rights_to("get list", "networkpolicies", "networking.k8s.io", is_local=False),
    ),
    "surge.yaml",
)
"""Bound apart. It stands in one file with its guard, without which the right to patch pods is a large one."""
TAINT: Final = RightsPart("rescheduler-taint", CHANGE_NODES, "taint.yaml")
MARK_NODES: Final = RightsPart("rescheduler-mark-nodes", CHANGE_NODES, "autoscaler.yaml")
_LEASE: Final = Right("create", "leases", "coordination.k8s.io")
LEASE: Final = RightsPart(
    "rescheduler-lease",
    (_LEASE, *(_LEASE._replace(verb=verb, object_name="rescheduler") for verb in ("get", "update"))),
    "overlays/execute/lease.yaml",
)
REVIEWS: Final = RightsPart(
    "system:auth-delegator",
    (
        Right("create", "tokenreviews", "authentication.k8s.io", is_local=False),
        Right("create", "subjectaccessreviews", "authorization.k8s.io", is_local=False),
    ),
    "api.yaml",
)
"""A role of the cluster's own, which is only bound."""
PARTS: Final = (
    EXECUTE, LEDGER, LEDGER_READER, NOMINATE, MAKE_EVENTS, HOLD, GUIDE, GUIDE_POLICY, SURGE, TAINT, MARK_NODES, LEASE,
    REVIEWS,
)  # fmt: skip
"""All that write, but those that ask an autoscaler for room (``autoscalers/capacity_objects.py``)."""
