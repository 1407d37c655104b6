"""The cheapest node that an autoscaler might buy for a pod, by the prices of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from rescheduler.costs.machines import machines_like
from rescheduler.model.columns.selectors import NodeTable
from rescheduler.model.columns.taints import is_tolerated
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, is_leaving
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.imagined import lasting_taints
from rescheduler.model.prices import place_of
from rescheduler.policy.fields.policy import Policy

SHUTTING = ("NoSchedule", "NoExecute")


def cheapest_for(pods: Sequence[Pod], cluster: Cluster, policy: Policy) -> float | None:
    """What the cheapest node costs a month that would take one of these pods alone; None where no such node is priced.

    Looked at are the nodes that there are, as if they were empty, and the machines of the table of prices that their
    pools may buy. What of it pods that come with every node would take is left out: the true price may be higher.
    """
    if not policy.prices.is_asked_for:
        return None
    offers = list(_offers(cluster, policy))
    table = NodeTable([node for node, _ in offers])
    prices = [price for pod in pods for price in _prices(pod, table, offers)]
    return min(prices, default=None)


def _prices(pod: Pod, table: NodeTable, offers: Sequence[tuple[Node, float]]) -> Iterator[float]:
    affinity = pod.spec.node_affinity
    demanded = table.demanded(pod.spec.node_selector, None if affinity is None else affinity.required)
    for (node, price), is_wanted in zip(offers, demanded, strict=True):
        if is_wanted and _has_room(node, pod) and _lets_in(node, pod):
            yield price


def _has_room(node: Node, pod: Pod) -> bool:
    room = dict(node.allocatable)
    return all(room.get(name, 0) >= amount for name, amount in pod.spec.requests)


def _lets_in(node: Node, pod: Pod) -> bool:
    shut = (taint for taint in lasting_taints(node) if taint.effect in SHUTTING)
    return all(is_tolerated(taint, pod.spec.tolerations) for taint in shut)


def _offers(cluster: Cluster, policy: Policy) -> Iterator[tuple[Node, float]]:
    """Nodes with their prices: of those that are there, one of each kind and size is enough."""
    staying = [node for node in cluster.nodes if not is_leaving(node)]
    kinds = {(place_of(node.labels), node.allocatable, node.taints): node for node in staying}
    for node in staying if policy.prices.label is not None else kinds.values():
        price = policy.prices.a_month(node.labels)
        if price is not None:
            yield node, price
    keys = {key for node in kinds.values() for key in node.labels}
    pools = {place_of(node.labels)[1:]: node for node in staying}
    for machine in machines_like(list(pools.values()), cluster, policy, keys=keys, below=inf).machines:
        yield Node(name="", labels=machine.labels, allocatable=machine.resources, taints=machine.taints), machine.price
