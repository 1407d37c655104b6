"""EmptyNodes: as many nodes, or as much of their price, emptied by as few evictions as possible. Start reading here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np
from msgspec.structs import replace as with_changes

from rescheduler.costs.node_prices import NodePrices, worth_emptying
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node, kept_mark
from rescheduler.model.plan.imagined import TO_GO
from rescheduler.model.plan.plan import MOST_EMPTY_CLOSED, Refusal, Status
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.destinations import by_cost, emptied_without_holds, with_destinations
from rescheduler.planning.objectives.empty_nodes.messages import binding_limits, blocked_nodes, describe
from rescheduler.planning.objectives.empty_nodes.search import EmptyingSearch
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation, belongs_to_its_node
from rescheduler.planning.objectives.empty_nodes.solution import Solution
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlanRequest
from rescheduler.planning.problem.prices import price_of_move, relative_price, tightest_allowances
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.waves.scheduler_choice import close
from rescheduler.planning.waves.waves import GroupsOfPods
from rescheduler.policy.fields.objectives import EmptyNodesArgs

# How much the empty nodes of a placement are worth, and what a single move changes about that.


class Emptiness(ObjectiveState):
    """Cost: less the price of every selected node that no pod keeps in use."""

    def __init__(self, problem: Problem, price: FloatArray, is_selected: BoolArray | None = None) -> None:
        """``price``: float64[N]; ``is_selected``: bool[N], nodes that count (None: all that can be used)."""
        columns = problem.columns
        nodes = columns.cluster.nodes
        start = problem.start.node_of
        counts = (start != NOWHERE) & ~columns.facts(belongs_to_its_node)
        is_usable = np.fromiter((not node.is_virtual and node.problem is None for node in nodes), np.bool_, len(nodes))
        self.price: FloatArray = np.where(is_usable if is_selected is None else is_usable & is_selected, price, 0.0)
        self.pods_on: IntArray = np.bincount(start[counts], minlength=columns.node_count).astype(np.int64)
        self.node_of: IntArray = problem.origin.astype(np.int64)
        self._counts: BoolArray = counts[problem.movable]
        self.cost = -float(self.price[self.pods_on == 0].sum())

    def change(self, row: int) -> FloatArray:
        """See ``ObjectiveState``."""
        here = self.node_of[row]
        change = np.zeros(len(self.price))
        if self._counts[row]:
            change += np.where(self.pods_on == 0, self.price, 0.0)
            change -= self.price[here] if self.pods_on[here] == 1 else 0.0
            change[here] = 0.0
        return change

    def promising(self) -> IntArray:
        """Pods of the nodes with the fewest pods for their price first."""
        here = self.node_of
        share = self.pods_on[here] / np.maximum(self.price[here], 1e-9)
        order: IntArray = np.argsort(share, kind="stable")
        return order[self._counts[order] & (self.price[here[order]] > 0)]

    def move(self, row: int, node: int) -> None:
        """See ``ObjectiveState``."""
        self.cost += float(self.change(row)[node])
        if self._counts[row]:
            self.pods_on[self.node_of[row]] -= 1
            self.pods_on[node] += 1
        self.node_of[row] = node


KEPT_NODE: Final = "KeptNode"
"""Rule of a node that is not emptied since nobody may take it away."""
AUTOSCALER: Final = "Autoscaler"
"""Rule of a node that an autoscaler empties itself."""
SEARCH_SHARE = 0.85  # the rest of the time is for the destinations that the scheduler would choose
SEARCH_SHARE_WITHOUT_HOLDS = 0.7  # the rest is for the bound
_SAME = 1e-9


class EmptyNodes(PlanningObjective):
    """The most nodes, or the most of their price, emptied, and then the fewest evictions for it."""

    name = "EmptyNodes"
    arguments = EmptyNodesArgs
    is_better_higher = True
    is_kept_by_places = True

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """See ``plan_emptying``; with a move cost a node is worth its price less what moving its pods costs."""
        deadline = request.deadline()
        request = _apart_from(request, self.setting.left)
        price, is_empty = self.price, _is_empty(request)
        if request.move_cost:
            price = np.maximum(0.0, price - request.move_cost * _cost_of_emptying(request))
        answer = plan_emptying(
            EmptyingSituation(request, price, self.is_selected, self.args.max_nodes, self._money),
            request,
            deadline,
            closes_empty=request.is_guided_by_holds and int(is_empty.sum()) <= MOST_EMPTY_CLOSED,
        )
        return replace(
            answer,
            unit=self._unit(request.move_cost),
            message=answer.message + _told_cost(request.move_cost, self._money),
            refusals=(*answer.refusals, *_kept(self.setting, self.args)),
            closes=(*answer.closes, *_still_empty(is_empty, self.is_selected, answer)),
        )

    def state(self, problem: Problem) -> Emptiness:
        """The price of nodes in use."""
        return Emptiness(problem, self.price, self.is_selected)

    @cached_property
    def price(self) -> FloatArray:
        """What each node costs, float64[N]."""
        return prices(self.setting.columns.cluster, self.args, self.setting.prices)

    @cached_property
    def is_selected(self) -> BoolArray | None:
        """Nodes that may be emptied, bool[N]; None: all."""
        return selected(self.setting.columns.cluster, self.args, self.setting.prices, self.setting.left)

    @property
    def _money(self) -> str:
        """The unit of money that is saved; empty where nodes or prices of its own argument are counted."""
        return "" if self.setting.prices is None or self.args.price is not None else self.setting.prices.unit

    def _unit(self, move_cost: float) -> str:
        if self._money:
            return self._money
        unit = "nodes" if self.args.price is None else "price"
        return f"{unit}, less the cost of moves" if move_cost else unit


def plan_emptying(
    situation: EmptyingSituation, request: PlanRequest, deadline: Deadline | None = None, *, closes_empty: bool
) -> ObjectivePlan:
    """Plan within the deadline for the nodes and prices of a situation.

    ``value``: price of the nodes emptied less that of empty ones that are used now (with price 1: a number of nodes);
    ``closes``: nodes emptied, ascending; ``refusals``: nodes that stay because of pods that must. With holds emptied
    nodes are closed while the plan runs; ``closes_empty``: those that were empty before are closed as well.
    ``deadline``: the request's, begun when it came (None: now).
    """
    deadline = deadline or request.deadline()
    groups = GroupsOfPods(situation.problem)
    notes: list[str] = []
    search = EmptyingSearch(situation, groups, deadline.part(SEARCH_SHARE), request.seed, request.progress)
    if request.is_guided_by_holds:
        if request.start.waves:
            search.begin_with(request.start)
        search.run()
        request.progress("predicting destinations")
        best = with_destinations(situation, groups, search.best, deadline, closes_empty=closes_empty)
    else:
        best = _without_holds(situation, groups, request.start, deadline.part(SEARCH_SHARE_WITHOUT_HOLDS))
        search.prove()
        notes.append(_note_without_holds(situation, best))
    notes += best.schedule.notes_on_exchanges
    return _answer(situation, request, best, search.bound, notes)


def _without_holds(
    situation: EmptyingSituation, groups: GroupsOfPods, start: WaveSchedule, deadline: Deadline
) -> Solution:
    """What empties by itself, in the order of a plan to begin with as well, if there is one."""
    order = by_cost(situation)
    best = Solution()
    if start.waves:
        nodes = dict.fromkeys(int(situation.start.node_of[pod]) for wave in start.waves for pod, _ in wave)
        first = [node for node in nodes if node in set(order)]
        others = [node for node in order if node not in nodes]
        best = emptied_without_holds(situation, groups, [*first, *others], deadline.part(0.5))
    found = emptied_without_holds(situation, groups, order, deadline)
    return found if found.is_better_than(best) else best


def _answer(
    situation: EmptyingSituation, request: PlanRequest, best: Solution, bound: float, notes: list[str]
) -> ObjectivePlan:
    refusals = blocked_nodes(situation, request.eligibility)
    limits = binding_limits(situation, best)
    is_proven = best.value >= bound - _SAME * max(1.0, abs(bound))
    return ObjectivePlan(
        status=Status.OPTIMAL if is_proven else Status.FEASIBLE if best.emptied else Status.UNKNOWN,
        value=best.value,
        bound=best.value if is_proven else bound,
        unit="nodes",
        message=describe(situation, best, bound, refusals, limits, [note for note in notes if note]),
        moves=_moves(situation, best),
        refusals=refusals,
        closes=best.emptied,
        binding_limits=limits,
    )


def _moves(situation: EmptyingSituation, best: Solution) -> tuple[PlannedMove, ...]:
    nodes = situation.columns.cluster.nodes
    emptied = frozenset(best.emptied)
    moves = []
    for number, wave in enumerate(best.schedule.waves, start=1):
        for pod, node in wave:
            origin = int(situation.start.node_of[pod])
            reason = f"empties {nodes[origin].name}" if origin in emptied else f"makes room on {nodes[origin].name}"
            is_exchange = number in best.schedule.evict_first
            moves.append(PlannedMove(pod, node, number, pod in best.guided, reason, is_exchange))
    return tuple(moves)


def _note_without_holds(situation: EmptyingSituation, best: Solution) -> str:
    left = len(situation.candidates) - len(best.emptied)
    if left <= 0:
        return ""
    return (
        f"without guidance {left} node{'s' if left != 1 else ''} that could be emptied stay, since the scheduler would"
        " send some of their pods back, or to nodes emptied already"
    )


def _is_empty(request: PlanRequest) -> BoolArray:
    """Nodes with no pod but such as belong to them, bool[N]."""
    columns, node_of = request.prediction.columns, request.placement.node_of
    is_empty = np.ones(columns.node_count, dtype=np.bool_)
    is_empty[node_of[(node_of != NOWHERE) & ~columns.facts(belongs_to_its_node)]] = False
    return is_empty


def _still_empty(is_empty: BoolArray, selection: BoolArray | None, answer: ObjectivePlan) -> list[int]:
    """Nodes that were empty before and are not used by the moves, of those that count."""
    counts = is_empty.copy() if selection is None else is_empty & selection
    counts[[move.to_node for move in answer.moves]] = False
    found: list[int] = np.flatnonzero(counts).tolist()
    return found


def selected(
    cluster: Cluster, args: EmptyNodesArgs, known: NodePrices | None = None, left: Collection[str] = ()
) -> BoolArray | None:
    """Nodes that may be emptied, bool[N]; None: all. Where prices are ``known``, only those that cost nothing then.

    ``left``: nodes that somebody else empties.
    """
    selector = read_selector(args.node_selector)
    kept = frozenset(left) | (frozenset() if known is None else known.kept.keys())
    if not selector.requirements and not kept and not any(kept_mark(node) for node in cluster.nodes):
        return None
    return np.array(
        [may_be_emptied(selector, node) and node.name not in kept for node in cluster.nodes], dtype=np.bool_
    )


def may_be_emptied(selector: LabelSelector, node: Node) -> bool:
    """Whether a node is selected, and nobody forbids autoscalers to take it; who asks about that very node may know."""
    return selects(selector, node.labels) and (kept_mark(node) is None or TO_GO in node.labels)


def _apart_from(request: PlanRequest, left: Mapping[str, str]) -> PlanRequest:
    """The same question, where pods neither leave these nodes nor come to them."""
    if not left:
        return request
    nodes = [row for row, node in enumerate(request.prediction.columns.cluster.nodes) if node.name in left]
    placement = request.placement.copy()
    close(placement, nodes)
    is_left = np.isin(placement.node_of, nodes)
    movable = tuple(pod for pod in request.eligibility.movable if not is_left[pod])
    return replace(request, placement=placement, eligibility=with_changes(request.eligibility, movable=movable))


def _kept(setting: ObjectiveSetting, args: EmptyNodesArgs) -> Iterator[Refusal]:
    """Nodes that would be selected but for their mark, or because nobody, or somebody else, would take them away."""
    selector, known = read_selector(args.node_selector), setting.prices
    for node in setting.columns.cluster.nodes:
        if not selects(selector, node.labels) or TO_GO in node.labels:
            continue
        mark = kept_mark(node)
        if mark is not None:
            message = f'{node.name} is not emptied, since nobody may take it away ({mark}: "true")'
            yield Refusal(KEPT_NODE, message, node=node.name)
        elif node.name in setting.left:
            yield Refusal(AUTOSCALER, f"{node.name} is not emptied: {setting.left[node.name]}", node=node.name)
        elif known is not None and node.name in known.kept:
            message = f"{node.name} is not emptied, since it would cost on ({known.kept[node.name]})"
            yield Refusal(KEPT_NODE, message, node=node.name)


def prices(cluster: Cluster, args: EmptyNodesArgs, known: NodePrices | None = None) -> FloatArray:
    """What each node is worth, float64[N]; 1 each where nodes are counted."""
    return np.array([worth_emptying(node, args, known) for node in cluster.nodes], dtype=np.float64)


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


def _told_cost(move_cost: float, money: str) -> str:
    if not move_cost:
        return ""
    amount = f"{move_cost:g} {money}, taken off" if money else f"{move_cost:g}"
    return f"; an eviction of ordinary price costs {amount}, and nodes worth less stay"
