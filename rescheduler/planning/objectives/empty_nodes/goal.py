"""EmptyNodes: the most nodes, or the most of their price, emptied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node, kept_mark
from rescheduler.model.plan.imagined import TO_GO
from rescheduler.model.plan.plan import MOST_EMPTY_CLOSED, Refusal
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.objective import plan_empty_nodes
from rescheduler.planning.objectives.empty_nodes.request import EmptyNodesAnswer, EmptyNodesRequest
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.prices import price_of_move, relative_price, tightest_allowances
from rescheduler.policy.fields.objectives import EmptyNodesArgs, NodePrice

KEPT_NODE: Final = "KeptNode"
"""Rule of a node that is not emptied since nobody may take it away."""


def plan(request: PlanRequest, args: EmptyNodesArgs) -> ObjectivePlan:
    """See ``plan_empty_nodes``; with a move cost a node is worth its price less what moving its pods costs."""
    cluster = request.prediction.columns.cluster
    price, selection = prices(cluster, args.price), selected(cluster, args)
    is_empty = _is_empty(request)
    if request.move_cost:
        price = np.maximum(0.0, price - request.move_cost * _cost_of_emptying(request))
    answer = plan_empty_nodes(
        EmptyNodesRequest(
            prediction=request.prediction,
            placement=request.placement,
            eligibility=request.eligibility,
            is_guided_by_holds=request.is_guided_by_holds,
            deadline_seconds=request.deadline_seconds,
            seed=request.seed,
            clock=request.clock,
            holds_empty_nodes=request.is_guided_by_holds and int(is_empty.sum()) <= MOST_EMPTY_CLOSED,
            is_selected=selection,
            price=price if request.move_cost or args.price is not None else None,
            progress=request.progress,
        )
    )
    return ObjectivePlan(
        status=answer.status,
        value=answer.value,
        bound=answer.bound,
        unit=_unit(args, request.move_cost),
        message=answer.message + _told_cost(request.move_cost),
        moves=answer.moves,
        refusals=(*answer.refusals, *_kept(cluster, args)),
        closes=(*answer.emptied, *_still_empty(is_empty, selection, answer)),
    )


def _is_empty(request: PlanRequest) -> BoolArray:
    """Nodes with no pod but such as belong to them, bool[N]."""
    pods, node_of = request.prediction.columns.cluster.pods, request.placement.node_of
    is_empty = np.ones(request.prediction.columns.node_count, dtype=np.bool_)
    for pod, node in zip(pods, node_of.tolist(), strict=True):
        if node != NOWHERE and not pod.belongs_to_its_node:
            is_empty[node] = False
    return is_empty


def _still_empty(is_empty: BoolArray, selection: BoolArray | None, answer: EmptyNodesAnswer) -> list[int]:
    """Nodes that were empty before and are not used by the moves, of those that count."""
    counts = is_empty.copy() if selection is None else is_empty & selection
    counts[[move.to_node for move in answer.moves]] = False
    found: list[int] = np.flatnonzero(counts).tolist()
    return found


def selected(cluster: Cluster, args: EmptyNodesArgs) -> BoolArray | None:
    """Nodes that may be emptied, bool[N]; None: all."""
    selector = read_selector(args.node_selector)
    if not selector.requirements and not any(kept_mark(node) for node in cluster.nodes):
        return None
    return np.array([may_be_emptied(selector, node) for node in cluster.nodes], dtype=np.bool_)


def may_be_emptied(selector: LabelSelector, node: Node) -> bool:
    """Whether a node is selected, and nobody forbids autoscalers to take it; who asks about that very node may know."""
    return selects(selector, node.labels) and (kept_mark(node) is None or TO_GO in node.labels)


def _kept(cluster: Cluster, args: EmptyNodesArgs) -> Iterator[Refusal]:
    """Nodes that would be selected but for their mark."""
    selector = read_selector(args.node_selector)
    for node in cluster.nodes:
        mark = kept_mark(node)
        if mark is not None and selects(selector, node.labels) and TO_GO not in node.labels:
            message = f'{node.name} is not emptied, since nobody may take it away ({mark}: "true")'
            yield Refusal(KEPT_NODE, message, node=node.name)


def prices(cluster: Cluster, price: NodePrice | None) -> FloatArray:
    """What each node costs, float64[N]; 1 each where nodes are counted."""
    if price is None:
        return np.ones(len(cluster.nodes))
    return np.array([price.of(node.labels) for node in cluster.nodes], dtype=np.float64)


def _cost_of_emptying(request: PlanRequest) -> FloatArray:
    """What it costs to move all pods of each node, in evictions of ordinary price, float64[N]."""
    cluster = request.prediction.columns.cluster
    tightest, owing = tightest_allowances(request.eligibility.groups), request.eligibility.owing
    cost = np.zeros(len(cluster.nodes))
    for pod in request.eligibility.movable:
        node = request.placement.node_of[pod]
        if node != NOWHERE and not cluster.pods[pod].belongs_to_its_node:
            price = price_of_move(cluster.pods[pod], cluster.taken_at, tightest.get(pod), is_owing=pod in owing)
            cost[node] += relative_price(price)
    return cost


def _unit(args: EmptyNodesArgs, move_cost: float) -> str:
    unit = "nodes" if args.price is None else "price"
    return f"{unit}, less the cost of moves" if move_cost else unit


def _told_cost(move_cost: float) -> str:
    return f"; an eviction of ordinary price costs {move_cost:g}, and nodes worth less stay" if move_cost else ""
