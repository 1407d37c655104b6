"""Head-room: how much of the schedulable room is still free once a plan is done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from rescheduler.disruption.health import Finding
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Move, PlannedPlacement
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.policy.safety import Health

EMPTIES = "EmptyNodes"
"""Nodes that this objective empties are on their way out: their room does not count."""


def lacking_head_room(
    cluster: Cluster, moves: Iterable[Move], placements: Iterable[PlannedPlacement], rules: Health
) -> Finding | None:
    """The scarcer of cpu and memory if less of it than ``head_room`` is free after the plan; else None.

    Counted over nodes that take pods; terminating pods count as gone, placed ones as there.
    """
    if not rules.head_room:
        return None
    emptied = _emptied(cluster, moves)
    open_nodes = [
        node
        for node in cluster.nodes
        if node.is_ready and not node.is_unschedulable and node.problem is None and not node.is_virtual
        and node.deletion_at is None and node.name not in emptied
    ]  # fmt: skip
    offered: Counter[str] = Counter()
    for node in open_nodes:
        offered.update(dict(node.allocatable))
    taken = _taken(cluster, moves, placements, {node.name for node in open_nodes})
    shares = {name: 1 - taken[name] / offered[name] for name in (CPU, MEMORY) if offered[name]}
    if not shares:
        return None
    name = min(shares, key=lambda key: shares[key])
    if shares[name] >= rules.head_room:
        return None
    wanted = f"{rules.head_room:.1%}".replace(".0%", "%")
    return Finding("headRoom", f"{max(0.0, shares[name]):.1%} of {name} stays free, less than the {wanted} to be kept")


def _taken(
    cluster: Cluster, moves: Iterable[Move], placements: Iterable[PlannedPlacement], nodes: set[str]
) -> Counter[str]:
    """What pods ask for on these nodes after the plan."""
    now_on = {move.pod.uid: move.to_node for move in moves}
    now_on.update((item.pod.uid, item.node) for item in placements)
    taken: Counter[str] = Counter()
    for pod in cluster.pods:
        if now_on.get(pod.uid, pod.node_name) in nodes and not pod.is_finished and not pod.is_terminating:
            taken.update(dict(pod.spec.requests if pod.held is None else pod.held))
    return taken


def _emptied(cluster: Cluster, moves: Iterable[Move]) -> frozenset[str]:
    """Nodes that keep nothing but what belongs to them."""
    leaving: defaultdict[str, set[str]] = defaultdict(set)
    arriving: set[str] = set()
    for move in moves:
        arriving.add(move.to_node)
        if move.objective == EMPTIES:
            leaving[move.from_node].add(move.pod.uid)
    return frozenset(
        node
        for node, gone in leaving.items()
        if node not in arriving
        and all(pod.uid in gone or pod.belongs_to_its_node for pod in cluster.pods_by_node.get(node, ()))
    )
