"""The price of each node of a cluster, as a policy says it, and which nodes cost on when they are empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, kept_mark
from rescheduler.model.plan.imagined import TO_GO
from rescheduler.model.prices import place_of
from rescheduler.model.printable import first_few, printable
from rescheduler.policy.fields.objectives import EmptyNodesArgs
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.prices import PricesPolicy

MOST_NAMED: Final = 5


@dataclass(frozen=True)
class NodePrices:
    """``a_month``: by node, of those that have a price; ``kept``: nodes that nobody takes away, and why."""

    currency: str
    a_month: Mapping[str, float]
    kept: Mapping[str, str]

    @property
    def unit(self) -> str:
        """What amounts are counted in."""
        return f"{self.currency}/month"

    def of(self, node: Node) -> float:
        """What a node costs a month; one without a price weighs nothing."""
        return self.a_month.get(node.name, 0.0)


def node_prices(policy: Policy, cluster: Cluster) -> NodePrices | None:
    """None where nobody asks for prices, or no node has one: then nodes count 1 each."""
    if not policy.prices.is_asked_for:
        return None
    found = ((node.name, policy.prices.a_month(node.labels)) for node in cluster.nodes)
    priced = {name: price for name, price in found if price is not None}
    return NodePrices(policy.prices.currency, priced, dict(_kept(cluster))) if priced else None


def _kept(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for node in cluster.nodes:
        mark = kept_mark(node)
        reason = f'{mark}: "true"' if mark is not None else _not_sold(node, cluster)
        if reason is not None and TO_GO not in node.labels:
            yield node.name, reason


def _not_sold(node: Node, cluster: Cluster) -> str | None:
    """Why Karpenter, where it has NodePools, does not take a node that is empty."""
    if not cluster.node_pools:
        return None
    pool = cluster.pool_of(node)
    return "it is of no NodePool" if pool is None else pool.keeps_empty_nodes


def worth_emptying(node: Node, args: EmptyNodesArgs, prices: NodePrices | None) -> float:
    """What EmptyNodes gains by a node: its own price if it is given one, else money, else 1."""
    if args.price is not None:
        return args.price.of(node.labels)
    return 1.0 if prices is None else prices.of(node)


def price_warnings(policy: Policy, cluster: Cluster) -> Iterator[str]:
    """What is odd about prices: labels that are none, capacity types that are not known, nodes without one."""
    prices = policy.prices
    if not prices.is_asked_for:
        return
    unread = [node for node in cluster.nodes if _is_no_price(prices, node)]
    for node in islice(unread, MOST_NAMED):
        found = printable(node.labels.get(prices.label or "", ""), 40)
        yield f"node {node.name}: label {prices.label}: found {found!r}, wanted a price; the file is asked next"
    if len(unread) > MOST_NAMED:
        yield f"{len(unread) - MOST_NAMED} more nodes have a label {prices.label} that is no price"
    unpriced = [node for node in cluster.nodes if prices.a_month(node.labels) is None]
    if cluster.nodes and len(unpriced) == len(cluster.nodes):
        yield "no node has a price (policy: prices), so no cost is told, and every node counts 1"
        return
    yield from _unknown_capacity_types(prices, unpriced)
    if unpriced:
        names = first_few([node.name for node in unpriced], MOST_NAMED)
        yield f"without a price, and so without weight in money: {names}"


def _is_no_price(prices: PricesPolicy, node: Node) -> bool:
    return prices.label is not None and prices.label in node.labels and prices.told_by_label(node.labels) is None


def _unknown_capacity_types(prices: PricesPolicy, unpriced: list[Node]) -> Iterator[str]:
    seen = (place_of(node.labels)[1] for node in unpriced)
    for name in sorted({name for name in seen if name is not None and not prices.table.knows("capacityType", name)}):
        yield f"the file of prices knows no capacity type {printable(name, 40)!r}; another one's price is not taken"
