"""Finds and removes what earlier runs left: placeholders, the gate and who waits there, taints, pods taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import COLLECTIONS, PLACEHOLDERS, TEMPLATES
from rescheduler.adapters.kubernetes.autoscalers.capacity_target import find_requests
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.paths import ALL_PODS, job_path, pod_path
from rescheduler.adapters.kubernetes.eviction.detaching import find_detached, give_back
from rescheduler.adapters.kubernetes.guidance.emptied_marks import find_marks, unmark
from rescheduler.adapters.kubernetes.guidance.gates import MarkedPod, find_gated, ungate
from rescheduler.adapters.kubernetes.guidance.hold_jobs import delete, list_ours, our_jobs
from rescheduler.adapters.kubernetes.guidance.nominations import withdraw
from rescheduler.adapters.kubernetes.guidance.placeholders import NODE_ANNOTATION
from rescheduler.adapters.kubernetes.guidance.rule_object import RULE, read_rule, remove_rule
from rescheduler.adapters.kubernetes.guidance.taints import TaintedNode, find_taints, remove_taint
from rescheduler.adapters.kubernetes.leftovers.lost_nominations import find_nominations
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.capacity import EMPTIED
from rescheduler.model.objects.annotations import GUIDE_GATE, HOLD_GATE, SURGE
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.plan.leaving_taint import LEAVING, ends_at, plan_of

TAINT: Final = "Taint"
GATE: Final = "Gate"
OUT: Final = "Surge"
RULE_KIND: Final = "ConfigMap"
MARK: Final = "Mark"
NOMINATION: Final = "Nomination"
_ASKED_FOR: Final = {
    item.kind: item for item in (*COLLECTIONS.values(), TEMPLATES) if item is not COLLECTIONS[PLACEHOLDERS]
}
"""Kinds of objects by which an autoscaler is asked for room, but for Jobs, which are removed as any of ours."""
LATEST: Final = 253402300799.0
"""The end of the year 9999, the latest time that can be written."""


class Leftover(NamedTuple):
    """A thing of ours that still exists. ``node``: where it keeps room, or the node that carries it (kind Taint).

    A Gate is the one on a pod, which stays; so does a pod of kind Surge, which its ReplicaSet is given back.
    """

    kind: str
    namespace: str
    name: str
    node: str

    @property
    def text(self) -> str:
        """For people."""
        if self.kind == TAINT:
            return f"{self.kind} {LEAVING} on node {self.node} ({self._owner})"
        if self.kind == MARK:
            return f"{self.kind} {EMPTIED} on node {self.node}"
        if self.kind == OUT:
            return f"{self.kind} {SURGE} on pod {self.namespace}/{self.name}, which its ReplicaSet is given back"
        if self.kind == GATE:
            return f"{self.kind} {GUIDE_GATE} on pod {self.namespace}/{self.name}, which waits there"
        if self.kind == NOMINATION:
            return f"{self.kind} of pod {self.namespace}/{self.name} to {self.node}, where its room was to be made"
        return f"{self.kind} {self.namespace}/{self.name}" + (f", keeps room on {self.node}" if self.node else "")

    @property
    def _owner(self) -> str:
        """Whose taint it is and until when, which its value tells."""
        taint = Taint(LEAVING, self.name)
        until = datetime.fromtimestamp(min(ends_at(taint), LATEST), UTC)
        return f"plan {plan_of(taint) or 'unknown'}, until {until:%Y-%m-%dT%H:%M:%SZ}"


def find_leftovers(connection: Connection, hold_namespace: str, ledger: str = "rescheduler-ledger") -> list[Leftover]:
    """The gate rule, placeholder Jobs of any plan, placeholder pods whose Job is gone, our gates and our taints.

    And what an autoscaler was asked for or offered, and pods that the ledger of this name tells to be nominated.

    In all namespaces, but for the rule, which is in ``hold_namespace``; where we may not list all, in that one alone.
    Raises ClusterError.
    """
    jobs = our_jobs(connection, hold_namespace)
    pods = our_pods(connection, hold_namespace, jobs)
    found = [leftover_of("Job", item) for item in jobs] + [leftover_of("Pod", item) for item in pods]
    # Pods are given back first: then their ReplicaSets delete those that wait at the gate. Then the rule, so that
    # nobody is gated any more; then the room, so that those which are let go find it.
    return [
        *_if_permitted(lambda: _marked(OUT, find_detached(connection))),
        *_if_permitted(lambda: _rule(connection, hold_namespace)),
        *found,
        *_if_permitted(lambda: _marked(GATE, find_gated(connection))),
        *_if_permitted(lambda: [Leftover(TAINT, "", one.taint.value, one.node) for one in find_taints(connection)]),
        *_if_permitted(
            lambda: [
                Leftover(one.kind, hold_namespace, name, "") for one, name in find_requests(connection, hold_namespace)
            ]
        ),
        *_if_permitted(lambda: [Leftover(MARK, "", EMPTIED, node) for node in find_marks(connection)]),
        *_if_permitted(
            lambda: [
                Leftover(NOMINATION, one.pod.namespace, one.pod.name, one.node)
                for one in find_nominations(connection, hold_namespace, ledger)
            ]
        ),
    ]


def our_pods(connection: Connection, hold_namespace: str, jobs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Placeholder pods that belong to none of these Jobs. Raises ClusterError."""
    known = {item["metadata"].get("uid") for item in jobs}
    return [
        item
        for item in list_ours(connection, ALL_PODS, pod_path(hold_namespace))
        if _is_gated(item) and not any(owner.get("uid") in known for owner in _owners(item))
    ]


def remove_leftovers(connection: Connection, leftovers: list[Leftover]) -> list[Leftover]:
    """Delete them; those that were there. Raises ClusterError at the first that cannot be deleted."""
    return [item for item in leftovers if _remove(connection, item)]


def _remove(connection: Connection, item: Leftover) -> bool:
    if item.kind == TAINT:
        return remove_taint(connection, TaintedNode(item.node, Taint(LEAVING, item.name)))
    if item.kind == MARK:
        return unmark(connection, item.node)
    if item.kind in _ASKED_FOR:
        return delete(connection, _ASKED_FOR[item.kind].path(item.namespace, item.name))
    if item.kind == NOMINATION:
        return withdraw(connection, item.namespace, item.name, "", item.node)
    if item.kind == OUT:
        return give_back(connection, item.namespace, item.name, "")
    if item.kind == GATE:
        return ungate(connection, item.namespace, item.name, "")
    if item.kind == RULE_KIND:
        rule = read_rule(connection, item.namespace)
        return rule is not None and remove_rule(connection, item.namespace, rule)
    path = {"Job": job_path, "Pod": pod_path}[item.kind](item.namespace, item.name)
    return delete(connection, path)


def _rule(connection: Connection, namespace: str) -> list[Leftover]:
    rule = read_rule(connection, namespace)
    return [] if rule is None else [Leftover(RULE_KIND, namespace, RULE, "")]


def _marked(kind: str, pods: Iterable[MarkedPod]) -> list[Leftover]:
    return [Leftover(kind, pod.namespace, pod.name, "") for pod in pods]


def _if_permitted(look: Callable[[], list[Leftover]]) -> list[Leftover]:
    """What is found; nothing where we may not look, since then we have not written anything there."""
    try:
        return look()
    except ClusterError:
        return []


def leftover_of(kind: str, item: dict[str, Any]) -> Leftover:
    """A Job or Pod as a leftover."""
    metadata = item["metadata"]
    node = (metadata.get("annotations") or {}).get(NODE_ANNOTATION, "")
    return Leftover(kind, metadata["namespace"], metadata["name"], node)


def _owners(item: dict[str, Any]) -> list[dict[str, Any]]:
    return item["metadata"].get("ownerReferences") or []


def _is_gated(item: dict[str, Any]) -> bool:
    return HOLD_GATE in [gate["name"] for gate in item["spec"].get("schedulingGates") or []]
