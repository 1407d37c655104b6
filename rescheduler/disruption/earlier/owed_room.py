"""Room that is owed: to replacements of evicted pods that nobody has made yet, since the old pods are still going."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, PODS, resources


class _Owed(NamedTuple):
    """What one replacement will need, and the node that it was expected on."""

    needed: Counter[str]
    expected: str


def with_owed_room(cluster: Cluster, ledger: Ledger) -> Cluster:
    """The cluster without the room that replacements still to be made will need, so that nobody else is sent there.

    A StatefulSet's pod is made anew only when the old one is gone, which may take all of its grace period; until then
    nothing but the ledger tells that it will need a place. Its old one may be another's by then: that is why it left.
    Room is kept where it was expected, or, where there is none any more, on the emptiest node that has it.
    """
    owed = _owed(cluster, ledger)
    if not owed:
        return cluster
    free = {node.name: _free(cluster, node) for node in cluster.nodes}
    kept: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for needed, expected in owed:
        homes = [name for name, room in free.items() if all(room[item] >= amount for item, amount in needed.items())]
        others = [name for name in homes if _takes_anybody(cluster.node_by_name[name])]
        home = expected if expected in homes else max(others, key=lambda name: free[name][CPU], default=None)
        if home is not None:
            free[home].subtract(needed)
            kept[home].update(needed)
    return replace(cluster, nodes=tuple(_less(node, kept[node.name]) for node in cluster.nodes))


def _owed(cluster: Cluster, ledger: Ledger) -> list[_Owed]:
    """What pods of open debts need that still stand, and for which no other has come."""
    named = ((entry, cluster.pod_by_key.get(entry.pod.key)) for entry in ledger.debts)
    standing = [
        (entry, pod) for entry, pod in named if pod is not None and pod.uid == entry.pod.uid and not pod.is_finished
    ]
    namespaces = {pod.namespace for _, pod in standing}
    near = [other for other in cluster.pods if other.namespace in namespaces] if standing else []
    claimed: set[str] = set()
    found = []
    for entry, pod in standing:
        came = (
            other.uid
            for other in near
            if other.uid not in claimed and _replaces(other, pod, entry) and cluster.owner_problem(other) is None
        )
        replacement = next(came, None)
        if replacement is None:
            found.append(_Owed(Counter(dict((*pod.spec.requests, (PODS, 1)))), entry.to_node))
        else:
            claimed.add(replacement)
    return found


def _replaces(other: Pod, pod: Pod, entry: LedgerEntry) -> bool:
    """Whether a pod of the same owner came after an eviction; when pods were made is known to the second."""
    if other.controller is None or pod.controller is None or other.is_terminating or other.is_finished:
        return False
    return other.controller.uid == pod.controller.uid and (other.created_at or 0.0) >= int(entry.at)


def _free(cluster: Cluster, node: Node) -> Counter[str]:
    """What no pod on a node holds."""
    room = Counter(dict(node.allocatable))
    for pod in cluster.pods_by_node.get(node.name, ()):
        room.subtract(dict(pod.spec.requests if pod.held is None else pod.held))
        room[PODS] -= 1
    return room


def _takes_anybody(node: Node) -> bool:
    return node.is_ready and not node.is_unschedulable and node.deletion_at is None and not node.taints


def _less(node: Node, kept: Counter[str]) -> Node:
    if not kept:
        return node
    return structs.replace(node, allocatable=resources((name, left - kept[name]) for name, left in node.allocatable))
