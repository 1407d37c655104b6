"""Room that is owed: to replacements of evicted pods that nobody has made yet, or that wait for a node."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import structs

from rescheduler.model.columns.selectors import NodeTable
from rescheduler.model.columns.taints import BANS, CORDON, is_tolerated
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, PODS, resources
from rescheduler.model.plan.plan import Plan


class _Owed(NamedTuple):
    """A pod like the replacement, and the node that it was expected on."""

    pod: Pod
    expected: str


def with_owed_room(cluster: Cluster, ledger: Ledger, placed: Collection[str] | None = None) -> Cluster:
    """The cluster without the room that replacements of evicted pods still need, so that nobody else is sent there.

    A StatefulSet's pod is made anew only when the old one is gone, which may take all of its grace period; until then
    nothing but the ledger tells that it will need a place. Its old one may be another's by then: that is why it left.
    Nor does anything else where the old one is gone and its owner cannot make a new one for now.
    Room is kept where it was expected, or, where there is none any more, on the emptiest node that has it and takes it.

    A replacement that is there and waits for a node speaks for itself to whoever finds a place for each pod that waits
    (``placed`` None). A plan that is carried out may know nothing of it: ``placed`` are the pods, by uid, whose places
    it names (see ``placed_by``), and all others are owed theirs.
    """
    owed = [item for item in _unmade(cluster, ledger) if item.pod.is_terminating or item.pod.uid not in (placed or ())]
    members = _members(cluster, ledger)
    owed += _missing(cluster, ledger, members)
    if placed is not None:
        owed += [item for item in _waiting(ledger, members) if item.pod.uid not in placed]
    if not owed:
        return cluster
    table = NodeTable(cluster.nodes)
    free = {node.name: _free(cluster, node) for node in cluster.nodes}
    kept: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pod, expected in owed:
        needed = Counter(dict((*pod.spec.requests, (PODS, 1))))
        homes = [
            name for name in _takers(cluster.nodes, table, pod)
            if all(free[name][item] >= amount for item, amount in needed.items())
        ]  # fmt: skip
        home = expected if expected in homes else max(homes, key=lambda name: free[name][CPU], default=None)
        if home is not None:
            free[home].subtract(needed)
            kept[home].update(needed)
    return replace(cluster, nodes=tuple(_less(node, kept[node.name]) for node in cluster.nodes))


def placed_by(plan: Plan) -> frozenset[str]:
    """The pods, by uid, whose places a plan names: those it lets in, and those it moves.

    One that an earlier run may have evicted, and that stands all the same, is to have its new place by this plan.
    """
    return frozenset([*(item.pod.uid for item in plan.placements), *(move.pod.uid for move in plan.moves)])


def _unmade(cluster: Cluster, ledger: Ledger) -> list[_Owed]:
    """For pods of open debts that still stand, and for which no other has come."""
    named = ((entry, cluster.pod_by_key.get(entry.pod.key)) for entry in ledger.debts)
    standing = [
        (entry, pod) for entry, pod in named if pod is not None and pod.uid == entry.pod.uid and not pod.is_finished
    ]
    named_by, claimed = cluster.pods_by_owner_uid, set[str]()
    found = []
    for entry, pod in standing:
        came = (
            other.uid
            for other in (() if pod.controller is None else named_by.get(pod.controller.uid, ()))
            if other.uid not in claimed and _replaces(other, pod, entry) and cluster.owner_problem(other) is None
        )
        replacement = next(came, None)
        if replacement is None:
            found.append(_Owed(pod, entry.to_node))
        else:
            claimed.add(replacement)
    return found


def _members(cluster: Cluster, ledger: Ledger) -> Mapping[str, Sequence[Pod]]:
    """Pods of the workloads that owe, by uid, without those on their way out."""
    wanted = {entry.workload for entry in ledger.debts if entry.workload}
    found = {uid: [pod for pod in cluster.pods_of(uid) if pod.is_active] for uid in wanted}
    return {uid: sorted(pods, key=lambda pod: pod.key) for uid, pods in found.items() if pods}


def _missing(cluster: Cluster, ledger: Ledger, members: Mapping[str, Sequence[Pod]]) -> Iterator[_Owed]:
    """For pods that are gone and whose owners, which want more than they have, have made no other: like a sibling.

    Of a workload without any pod nothing tells what the next one will ask for.
    """
    came = {uid: list(pods) for uid, pods in members.items()}
    owners = {uid: cluster.workload_of(pods[0]) for uid, pods in members.items()}
    lacking = {
        uid: owner.desired_replicas - len(members[uid])
        for uid, owner in owners.items()
        if owner is not None and owner.desired_replicas is not None
    }
    for entry in reversed(ledger.debts):
        known = cluster.pod_by_key.get(entry.pod.key)
        is_there = known is not None and known.uid == entry.pod.uid
        if is_there or lacking.get(entry.workload, 0) < 1:
            continue
        replacement = next((pod for pod in came[entry.workload] if pod.is_made_since(entry.at)), None)
        if replacement is not None:
            came[entry.workload].remove(replacement)
        else:
            lacking[entry.workload] -= 1
            yield _Owed(members[entry.workload][0], entry.to_node)


def _waiting(ledger: Ledger, members: Mapping[str, Sequence[Pod]]) -> Iterator[_Owed]:
    """Replacements that have no node yet. Who left last has the fewest to choose from, and chooses first."""
    left = {uid: list(pods) for uid, pods in members.items()}
    for entry in reversed(ledger.debts):
        came = [pod for pod in left.get(entry.workload, ()) if pod.is_made_since(entry.at)]
        replacement = min(came, key=lambda pod: pod.node_name is None, default=None)
        if replacement is not None:
            left[entry.workload].remove(replacement)
            if replacement.node_name is None:
                yield _Owed(replacement, entry.to_node)


def _takers(nodes: Iterable[Node], table: NodeTable, pod: Pod) -> Iterator[str]:
    """Nodes that take a pod, but for room: by their state, their taints and what it selects."""
    rules = pod.spec.node_affinity
    selected = table.demanded(pod.spec.node_selector, None if rules is None else rules.required)
    for node, is_selected in zip(nodes, selected, strict=True):
        bans = [*(taint for taint in node.taints if taint.effect in BANS), *([CORDON] if node.is_unschedulable else [])]
        is_open = node.is_ready and node.deletion_at is None
        if is_open and is_selected and all(is_tolerated(ban, pod.spec.tolerations) for ban in bans):
            yield node.name


def _replaces(other: Pod, pod: Pod, entry: LedgerEntry) -> bool:
    """Whether a pod that names the same owner came after an eviction; when pods were made is known to the second."""
    if other.namespace != pod.namespace or other.controller is None or pod.controller is None or not other.is_active:
        return False
    return other.controller.uid == pod.controller.uid and other.is_made_since(entry.at)


def _free(cluster: Cluster, node: Node) -> Counter[str]:
    """What no pod on a node holds."""
    room = Counter(dict(node.allocatable))
    for pod in cluster.pods_by_node.get(node.name, ()):
        room.subtract(dict(pod.amounts))
        room[PODS] -= 1
    return room


def _less(node: Node, kept: Counter[str]) -> Node:
    if not kept:
        return node
    return structs.replace(node, allocatable=resources((name, left - kept[name]) for name, left in node.allocatable))
