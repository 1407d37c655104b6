"""What is asked for each machine that a plan names: one pod as large as its room, for nodes of its type alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from msgspec import UNSET, structs

from rescheduler.execution.run.resuming import made_at
from rescheduler.model.daemon.capacity import BUYING, CapacityRequest, PodSet
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, Requirement, Toleration
from rescheduler.model.objects.node import Node, node_mark
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import PODS, Resources, offered_amount, resources
from rescheduler.model.plan.imagined import lasting_taints
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.what_if import AddedNode, WhatIf
from rescheduler.model.prices import LABELS_OF_KEYS, Place, place_of

PLACEHOLDERS: Final = "Placeholders"
"""The way to ask, as ``autoscaler.scaleUp`` names it."""


class MachineOrder(NamedTuple):
    """``machine``: as the plan names it; ``room``: what it is to offer to pods; ``placeholder``: the pod that asks.

    ``before``: nodes of this type that the plan has counted on already, so that none of them is the machine.
    """

    machine: AddedNode
    room: Resources
    placeholder: PodSpec
    before: frozenset[str]


def machines_of(plan: Plan) -> tuple[AddedNode, ...]:
    """Machines that some move or placement needs; of a plan for nodes that exist, none."""
    if not isinstance(plan.what_if, WhatIf):
        return ()
    needed = {move.to_node for move in plan.moves} | {item.node for item in plan.placements}
    return tuple(machine for machine in plan.what_if.added_nodes if machine.name in needed)


def place_of_machine(machine: AddedNode) -> Place:
    """Its type, capacity type, zone and pool, as far as the plan says."""
    said = (machine.instance_type, machine.capacity_type, machine.zone, machine.node_pool)
    return tuple(None if value is UNSET else value for value in said)


def told(machine: AddedNode) -> str:
    """For people: the name in the plan, the type, and what else is known."""
    kind, *others = (value for value in place_of_machine(machine) if value is not None)
    return f"{machine.name}: {kind} ({', '.join(others)})" if others else f"{machine.name}: {kind}"


def bill_of(plan: Plan) -> str:
    """Machines that a plan needs, for people: ``2 c-4x (on-demand, a)``; "": none."""
    counts = Counter(told(machine).partition(": ")[2] for machine in machines_of(plan))
    return ", ".join(f"{number} {kind}" for kind, number in counts.items())


def orders_of(plan: Plan, cluster: Cluster) -> tuple[MachineOrder, ...]:
    """One for each machine. ``cluster``: as it is, without the machines."""
    return tuple(_order(machine, plan, cluster) for machine in machines_of(plan))


def request_for(placeholders: Iterable[PodSpec], run_id: str, expires_at: float) -> CapacityRequest:
    """All of them as one request, which is for no pod that waits."""
    shapes = tuple(PodSet(placeholder, 1) for placeholder in placeholders)
    return CapacityRequest(BUYING + run_id, PLACEHOLDERS, (), shapes, expires_at)


def _order(machine: AddedNode, plan: Plan, cluster: Cluster) -> MachineOrder:
    room = {name: offered_amount(name, text) for name, text in machine.allocatable.items()}
    place = place_of_machine(machine)
    spec = PodSpec(
        requests=resources((name, amount) for name, amount in room.items() if name != PODS),
        node_selector=_selector(place, cluster.nodes),
        tolerations=_tolerations(place, cluster.nodes),
        scheduler_name=_scheduler(machine.name, plan, cluster),
    )
    return MachineOrder(machine, resources(room.items()), spec, _alike_before(place, cluster.nodes, made_at(plan)))


def _selector(place: Place, nodes: Iterable[Node]) -> tuple[tuple[str, str], ...]:
    """By those names of labels that nodes of this cluster carry."""
    known = {label for node in nodes for label in node.labels}
    return tuple(
        (next((name for name in names if name in known), names[0]), value)
        for value, names in zip(place, LABELS_OF_KEYS.values(), strict=True)
        if value is not None
    )


def _alike_before(place: Place, nodes: Iterable[Node], since: float) -> frozenset[str]:
    """One that came since the plan was made may be the machine: an earlier run has asked for it and was killed."""
    return frozenset(
        node.name for node in nodes if is_of(place, node) and (node.created_at is None or node.created_at <= since)
    )


def is_of(place: Place, node: Node) -> bool:
    """Whether a node's labels say all that a place does."""
    return all(said is None or said == found for said, found in zip(place, place_of(node.labels), strict=True))


def _tolerations(place: Place, nodes: Iterable[Node]) -> tuple[Toleration, ...]:
    """Of the lasting taints of the pool's nodes: those that come and go keep a pod off a node that is not Ready."""
    of_pool = [node for node in nodes if place_of(node.labels)[3] == place[3]]
    taints = dict.fromkeys(taint for node in of_pool for taint in lasting_taints(node))
    return tuple(Toleration(taint.key, "Equal", taint.value, taint.effect) for taint in taints)


def _scheduler(name: str, plan: Plan, cluster: Cluster) -> str:
    """Of a pod that is to come there."""
    key = next((move.pod.key for move in plan.moves if move.to_node == name), "")
    pod = cluster.pod_by_key.get(key)
    return PodSpec().scheduler_name if pod is None else pod.spec.scheduler_name


def is_over(plan: Plan, cluster: Cluster) -> bool:
    """Whether all pods of the plan have left: it was carried out before, and asks for nothing."""
    return all(_standing(move.pod.key, move.pod.uid, cluster) is None for move in plan.moves)


def objection(plan: Plan, cluster: Cluster) -> str | None:
    """Why no machine is asked for: the cluster is not what the plan was made for. None: it is."""
    machines = {machine.name for machine in machines_of(plan)}
    for name in sorted(machines):
        if name in cluster.node_by_name:
            return f"there is a node {name} by now, which the plan takes for a machine that is to come; plan again"
    for move in plan.moves:
        pod = _standing(move.pod.key, move.pod.uid, cluster)
        if pod is None:
            return (
                f"{move.pod.key} has left {move.from_node} since the plan was made; a plan that was begun goes on by "
                "`apply --resume NUMBER` (see `history`), with the machines that it has; else plan again"
            )
        if pod.node_name != move.from_node:
            where = pod.node_name or "no node"
            return f"{move.pod.key} is on {where}, the plan moves it from {move.from_node}; plan again"
        if move.to_node not in machines and move.to_node not in cluster.node_by_name:
            return f"node {move.to_node}, which {move.pod.key} is to move to, is not there; plan again"
    return None


def fillers_of(orders: Iterable[MachineOrder], cluster: Cluster) -> dict[str, PodSpec]:
    """By nodes that were there before and have room for a pod that asks, what takes that room meanwhile.

    Else none would be made: no autoscaler lets a pod say by name where it is not to be, and what it may say tells such
    nodes apart from nothing. By the field of its name a pod may be bound to one, and nobody makes a machine for it.
    """
    found: dict[str, PodSpec] = {}
    for order in orders:
        wanted = (*order.placeholder.requests, (PODS, 1))
        for name in sorted(order.before - found.keys()):
            node = cluster.node_by_name[name]
            free = room_beside(node, cluster.pods_by_node.get(name, ()))
            is_open = node.is_open and node_mark(node) is None
            if is_open and all(free.get(resource, 0) >= amount for resource, amount in wanted):
                here = NodeSelectorTerm(fields=(Requirement("metadata.name", "In", (name,)),))
                found[name] = structs.replace(order.placeholder, node_affinity=NodeAffinityRules(required=(here,)))
    return found


def room_beside(node: Node, pods: Iterable[Pod]) -> dict[str, int]:
    """What a node has left beside these of its pods."""
    left = dict(node.allocatable)
    for pod in pods:
        for name, amount in (*(pod.spec.requests if pod.held is None else pod.held), (PODS, 1)):
            left[name] = left.get(name, 0) - amount
    return left


def _standing(key: str, uid: str, cluster: Cluster) -> Pod | None:
    pod = cluster.pod_by_key.get(key)
    return None if pod is None or pod.uid != uid or not pod.is_active else pod


def with_nodes_that_came(plan: Plan, came: Mapping[str, str]) -> Plan:
    """The plan for the nodes that there are. ``came``: their names, by those of the machines in the plan."""
    moves = tuple(structs.replace(move, to_node=came.get(move.to_node, move.to_node)) for move in plan.moves)
    placements = tuple(structs.replace(item, node=came.get(item.node, item.node)) for item in plan.placements)
    question = plan.what_if
    if isinstance(question, WhatIf):
        question = structs.replace(question, added_nodes=())
    return structs.replace(plan, moves=moves, placements=placements, what_if=question)
