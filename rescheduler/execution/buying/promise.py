"""Whether a machine that has come is what the plan counts on."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.execution.buying.orders import MachineOrder, is_of, place_of_machine, room_beside
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, node_mark
from rescheduler.model.objects.resources import exact_amount


def not_as_promised(orders: Sequence[MachineOrder], nodes: Sequence[str], cluster: Cluster) -> str:
    """What is missing, of the first that misses something; "": all are there, Ready, and what was promised.

    ``nodes``: where the pods are that asked for them, in the order of ``orders``.
    """
    if len(set(nodes)) < len(nodes):
        twice = next(name for name in nodes if nodes.count(name) > 1)
        return f"node {twice} came for more than one machine"
    return next(filter(None, (_missing(*pair, cluster) for pair in zip(orders, nodes, strict=True))), "")


def _missing(order: MachineOrder, name: str, cluster: Cluster) -> str:
    node = cluster.node_by_name.get(name)
    if node is None:
        return f"node {name} is not there"
    if node.problem is not None:
        return f"node {name} {node.problem}"
    if not node.is_ready:
        return f"node {name} is not Ready"
    mark = node_mark(node)
    if mark is not None:
        return f"node {name} is one which {mark}"
    if node.is_unschedulable:
        return f"node {name} is cordoned"
    if not is_of(place_of_machine(order.machine), node):
        return f"node {name} is of another type, capacity type, zone or pool than {order.machine.name}"
    return _too_small(order, node, cluster)


def _too_small(order: MachineOrder, node: Node, cluster: Cluster) -> str:
    own = (pod for pod in cluster.pods_by_node.get(node.name, ()) if pod.belongs_to_its_node)
    room = room_beside(node, own)
    for name, promised in order.room:
        if room.get(name, 0) < promised:
            found, wanted = exact_amount(name, room.get(name, 0)), exact_amount(name, promised)
            return f"node {node.name} has {name} {found} for pods; the plan counts on {wanted}"
    return ""
