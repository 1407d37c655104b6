"""Nodes that pods leave are closed, by placeholders for nobody or by our taint: the scheduler would put them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rescheduler.execution.emptied import destinations, empties_nodes, standing_on
from rescheduler.execution.holding import Hold, HoldMaker, enlarged, held_by, leavers_by_node, room_after, take
from rescheduler.model.cluster import Cluster
from rescheduler.model.node import Node
from rescheduler.model.plan import Plan
from rescheduler.model.pod import Pod
from rescheduler.model.resources import Resources, resources
from rescheduler.model.taints import BANS, tolerates


def closings(plan: Plan, rest: Plan, emptied: Sequence[str], cluster: Cluster, maker: HoldMaker) -> list[Hold]:
    """Placeholders for the whole time of a plan, on nodes that pods leave and on which nobody arrives.

    Nodes that are to be empty are closed altogether; on others so much is kept that no pod comes back which left.
    """
    found = [hold for name in emptied for hold in maker.closing(name, maker.full)]
    arriving = destinations(plan)
    for node, leavers in leavers_by_node(rest.moves, cluster).items():
        if node not in emptied and node not in arriving:
            request = enough_to_close(node, leavers, cluster, keeps=[held_by(pod) for pod in leavers])
            found += maker.closing(node, request) if request else []
    return found


def left_for_good(plan: Plan, rest: Plan, emptied: Sequence[str]) -> list[str]:
    """Nodes that pods leave and on which nobody arrives in the whole plan: those that a taint can close."""
    arriving = destinations(plan)
    return list(dict.fromkeys([*emptied, *(move.from_node for move in rest.moves if move.from_node not in arriving)]))


def empty_before(plan: Plan, rest: Plan, emptied: Sequence[str], cluster: Cluster, leavers: Sequence[Pod]) -> list[str]:
    """Nodes that are empty already, which would attract the pods of nodes that are to be emptied."""
    if not empties_nodes(rest.moves):
        return []
    used = destinations(plan).union(emptied)
    return [
        node.name
        for node in cluster.nodes
        if node.name not in used and may_receive(node, leavers) and not standing_on(cluster, node.name)
    ]


def enough_to_close(
    node: str, leavers: Sequence[Pod], cluster: Cluster, *, keeps: Sequence[Resources] = (), beside: Sequence[Hold] = ()
) -> Resources:
    """A request that lets none of these pods back onto the node they leave; empty if nothing is needed for that.

    ``keeps``: what it keeps in any case; ``beside``: placeholders that stand there too.
    """
    room = room_after(cluster, node, leavers)
    for hold in beside:
        take(room, hold.request.requests)
    amounts: dict[str, int] = {}
    for requests in keeps:
        take(room, requests)
        for resource, amount in requests:
            amounts[resource] = amounts.get(resource, 0) + amount
    return enlarged(resources(amounts.items()), room, leavers)


def may_receive(node: Node, pods: Iterable[Pod]) -> bool:
    """Whether any of these pods could be put on a node, as far as its state and its taints go."""
    if node.is_unschedulable or node.is_virtual or node.problem is not None:
        return False
    bans = [taint for taint in node.taints if taint.effect in BANS]
    every = {pod.spec.tolerations for pod in pods}
    return any(all(any(tolerates(item, taint) for item in tolerations) for taint in bans) for tolerations in every)
