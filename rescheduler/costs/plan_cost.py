"""What a cluster costs before and after a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import fsum

from rescheduler.costs.node_prices import NodePrices
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import is_leaving
from rescheduler.model.plan.cost import Cost, KeptNode
from rescheduler.model.plan.plan import Plan

CENTS = 2


def plan_cost(plan: Plan, cluster: Cluster, prices: NodePrices, added: Collection[str] = ()) -> Cost:
    """Amounts a month, to a cent. ``added``: nodes that would be bought, which cost nothing before."""
    start = pods_on(cluster)
    end = start.copy()
    for move in plan.moves:
        end[move.from_node] -= 1
        end[move.to_node] += 1
    for placement in plan.placements:
        end[placement.node] += 1
    staying = [node for node in cluster.nodes if not is_leaving(node)]
    is_sold = {node.name for node in staying if not end[node.name] and node.name not in prices.kept}
    before = fsum(prices.of(node) for node in staying if node.name not in added)
    after = fsum(prices.of(node) for node in staying if node.name not in is_sold)
    unpriced = tuple(node.name for node in staying if node.name not in prices.a_month)
    empty = fsum(prices.of(node) for node in staying if node.name in is_sold - set(added) and not start[node.name])
    return Cost(
        currency=prices.currency,
        before=round(before, CENTS),
        after=round(after, CENTS),
        saving=round(round(before, CENTS) - round(after, CENTS), CENTS),
        complete=not unpriced,
        unpriced=unpriced,
        kept=tuple(KeptNode(node.name, prices.kept[node.name]) for node in staying if node.name in prices.kept),
        empty=round(empty, CENTS),
    )


def pods_on(cluster: Cluster) -> Counter[str]:
    """Pods of each node that keep it in use; those that go with their node do not."""
    found: Counter[str] = Counter()
    for name, pods in cluster.pods_by_node.items():
        found[name] = sum(not pod.belongs_to_its_node and not pod.is_terminating for pod in pods)
    return found
