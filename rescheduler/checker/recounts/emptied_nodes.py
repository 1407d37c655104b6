"""Counts again which nodes a plan empties, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rescheduler.costs.node_prices import NodePrices, worth_emptying
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, kept_mark
from rescheduler.model.plan.imagined import TO_GO
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.objectives import EmptyNodesArgs

EMPTY_NODES = "EmptyNodes"


def price_emptied(cluster: Cluster, plan: Plan, args: EmptyNodesArgs, known: NodePrices | None = None) -> float:
    """Price of the nodes that have pods before the plan and none after it.

    Taken off is that of nodes which were empty and to which nothing but the objective itself sends pods. Without prices
    a node counts 1; where they are ``known``, a node that would cost on when it is empty counts nothing. Pods that live
    and die with their node do not count.
    """
    before = _standing(cluster, plan)
    after = before.copy()
    for move in plan.moves:
        after[move.from_node] -= 1
        after[move.to_node] += 1
    for placement in plan.placements:
        after[placement.node] += placement.wave > 0
    by_others = {move.to_node for move in plan.moves if move.objective != EMPTY_NODES}
    by_others |= {placement.node for placement in plan.placements if placement.wave > 0}
    selector = read_selector(args.node_selector)
    total = 0.0
    for node in cluster.nodes:
        if _may_be_emptied(node) and selects(selector, node.labels):
            worth = worth_emptying(node, args, known) if known is None or node.name not in known.kept else 0.0
            is_spoiled = not before[node.name] and after[node.name] > 0 and node.name not in by_others
            total += worth * (bool(before[node.name] and not after[node.name]) - is_spoiled)
    return total


def too_many_emptied(cluster: Cluster, plan: Plan, args: EmptyNodesArgs) -> Iterator[str]:
    """Whether more nodes than ``maxNodes`` lose all their pods, of those that the objective itself takes some from."""
    if args.max_nodes is None:
        return
    left = _standing(cluster, plan)
    for move in plan.moves:
        left[move.from_node] -= 1
        left[move.to_node] += 1
    for placement in plan.placements:
        left[placement.node] += placement.wave > 0
    selector = read_selector(args.node_selector)
    counted = {node.name for node in cluster.nodes if _may_be_emptied(node) and selects(selector, node.labels)}
    own = {move.from_node for move in plan.moves if move.objective == EMPTY_NODES}
    emptied = [name for name in own & counted if not left[name]]
    if len(emptied) > args.max_nodes:
        yield f"{len(emptied)} nodes emptied, and maxNodes allows {args.max_nodes}"


def _standing(cluster: Cluster, plan: Plan) -> Counter[str]:
    """Pods on each node that keep it from being empty, with those that the scheduler lets in, plan or no plan."""
    found: Counter[str] = Counter()
    for pod in cluster.pods:
        if pod.node_name is not None and not pod.is_finished and not pod.belongs_to_its_node:
            found[pod.node_name] += 1
    for placement in plan.placements:
        if placement.wave == 0:
            found[placement.node] += 1
    return found


def _may_be_emptied(node: Node) -> bool:
    return not node.is_virtual and node.problem is None and (kept_mark(node) is None or TO_GO in node.labels)
