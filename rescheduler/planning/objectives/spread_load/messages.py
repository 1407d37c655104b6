"""What a plan to spread load says of itself: before and after, what is proven, which nodes stay hot, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Refusal
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.spread_load.state import Load, LoadState
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.search.local_search import LocalSearchResult
from rescheduler.planning.search.search_state import SAME, SearchState

# Shares of use in words that people read.


UNIT = "nodes' worth of overload"
"""Of value and bound, and of every amount that is told: each resource counted in average nodes."""


class LoadMessages:
    """What is said of the nodes of one cluster."""

    def __init__(self, cluster: Cluster, load: Load) -> None:
        self._cluster = cluster
        self._load = load

    def use_of(self, node: int, state: LoadState) -> str:
        """Such as ``cpu 93% (target 70%)``, each resource above its target."""
        over = state.over()[:, node] > 0
        shares, targets = self._shares(state.use()), self._shares(self._load.allowed)
        rows = np.flatnonzero(over) if over.any() else [int(np.argmax(shares[:, node]))]
        return ", ".join(
            f"{self._load.resources[row]} {_share(shares[row, node])} (target {_share(targets[row, node])})"
            for row in rows
        )

    def target(self) -> str:
        """What nodes are to stay below: ``target cpu 70%, memory 80%``."""
        shares = self._shares(self._load.allowed).max(axis=1, initial=0.0).tolist()
        told = (f"{name} {_share(share)}" for name, share in zip(self._load.resources, shares, strict=True))
        return f"target {', '.join(told)}"

    def hottest(self, use: FloatArray) -> str:
        """The node furthest above (or nearest below) its target, with its share: ``n1 at 93% of cpu``."""
        shares = np.where(self._load.is_known, self._relative(use), -np.inf)
        row, node = np.unravel_index(int(np.argmax(shares)), shares.shape)
        share = self._shares(use)[row, node]
        return f"{self._cluster.nodes[int(node)].name} at {_share(share)} of {self._load.resources[int(row)]}"

    def _shares(self, amounts: FloatArray) -> FloatArray:
        capacity = self._load.capacity
        found: FloatArray = np.where(
            capacity > 0, amounts / np.maximum(capacity, 1e-12), np.where(amounts > 0, np.inf, 0)
        )
        return found

    def _relative(self, use: FloatArray) -> FloatArray:
        allowed = self._load.allowed
        found: FloatArray = np.where(allowed > 0, use / np.maximum(allowed, 1e-12), np.where(use > 0, np.inf, 0))
        return found


def _share(value: float) -> str:
    return f"{value:.0%}" if np.isfinite(value) else "use without capacity"


# Nodes that stay above their target, and why nothing more is done about each.

MOST_EXPLAINED = 50


def hot_nodes_that_stay(request: PlanRequest, current: SearchState, state: LoadState) -> tuple[Refusal, ...]:
    """One refusal for each node above its target, the hottest first, at most MOST_EXPLAINED."""
    over = state.over().sum(axis=0)
    hot = np.flatnonzero(over > 0)
    order = hot[np.lexsort((hot, -over[hot]))]
    telling = LoadMessages(current.problem.columns.cluster, state.load)
    found = []
    for node in order[:MOST_EXPLAINED].tolist():
        rule, why = _why(request, current, state, node)
        name = current.problem.columns.cluster.nodes[node].name
        found.append(Refusal(rule=rule, message=f"{name} stays at {telling.use_of(node, state)}: {why}", node=name))
    return tuple(found)


def _why(request: PlanRequest, current: SearchState, state: LoadState, node: int) -> tuple[str, str]:
    """Rule and words: the fate of the pod that would help most."""
    rows = np.flatnonzero((current.node_of == node) & (state.hopes() > SAME))
    rows = rows[[int(row) not in current.moved for row in rows.tolist()]] if len(rows) else rows
    if not len(rows):
        return _immovable(current, state, request.eligibility, node)
    if current.limits.in_all < len(current.moved) + 1:
        return "limits.maxEvictions", "no eviction is left"
    able = [row for row in rows.tolist() if current.may_leave(row)]
    if not able:
        if current.leaves_left(node) <= 0:
            return "limits.maxEvictionsPerNode", "no eviction from this node is left"
        return "limits.maxEvictionsPerNamespace", "no eviction is left for the namespaces of its pods"
    row = max(able, key=lambda row: (state.relief(row), -row))
    rule, why = _obstacle(current, state, row)
    if rule == "Deadline" and not request.is_guided_by_holds:
        rule, why = "Guidance", "would be sent elsewhere, or back, by the scheduler, and nothing is held"
    return rule, f"{current.problem.columns.cluster.pods[current.pod(row)].key}, which would help most, {why}"


def _obstacle(current: SearchState, state: LoadState, row: int) -> tuple[str, str]:
    mask = current.problem.static_mask(current.pod(row))[1].copy()
    mask[current.node_of[row]] = False
    if not mask.any():
        return "NoOtherNode", "may run on no other node"
    roomy = current.roomy(row)
    if not roomy.any():
        return "NoRoom", "finds no other node with room for what it requests"
    nodes = current.open_to(row)
    if not nodes.any():
        return "NoOtherNode", "is kept off every node with room by other pods' places or by an earlier objective"
    change = state.change(row)[nodes]
    if not np.isfinite(change).any():
        return "NoCoolNode", "would bring every node with room above its target"
    if not (change < -SAME).any():
        return "NoGain", "gains nothing by moving"
    if (change + current.fee(row) >= -SAME).all():
        return "moveCost", "gains less by moving than the move costs"
    return "Deadline", "was not reached in the time given, or found no order in which it could move"


def _immovable(current: SearchState, state: LoadState, eligibility: Eligibility, node: int) -> tuple[str, str]:
    """Why the pod that uses most of what there is too much of must stay."""
    load, columns = state.load, current.problem.columns
    here = np.flatnonzero(current.placement.node_of == node)
    is_over = state.over()[:, node] > 0
    share = (load.of_pods[:, here] / load.unit[:, None])[is_over].sum(axis=0)
    if not len(here) or share.max(initial=0.0) <= 0:
        return "NoPods", "what it uses is not used by its pods"
    pod = int(here[int(np.argmax(share))])
    if pod in eligibility.refusals:
        return eligibility.refusals[pod].rule, eligibility.refusals[pod].message
    for group in eligibility.groups:
        if group.allowed_per_wave <= 0 and pod in group.pods:
            key = columns.cluster.pods[pod].key
            return group.rule, f"{key} belongs to {group.rule} {group.name}, which allows no disruption now"
    initial = columns.initial_node_of[pod]
    if initial == NOWHERE or current.placement.node_of[pod] != initial:
        return "MovedAlready", f"{columns.cluster.pods[pod].key} goes there by this plan, and a pod moves once only"
    return "Eligibility", f"{columns.cluster.pods[pod].key}, which uses most of it, may not be moved"


class Before:
    """The start, as it is told beside the end: ``use`` and ``over`` are float64[K, N]."""

    def __init__(self, state: LoadState) -> None:
        """Copy what will change."""
        self.use: FloatArray = state.use()
        self.over: FloatArray = state.over().copy()


NOTHING_TO_JUDGE = "no node has a load that can be believed: whether any is above its target is not known"


def describe(
    request: PlanRequest,
    before: Before,
    state: LoadState,
    plan: LocalSearchResult,
    bound: float,
    refusals: Sequence[Refusal],
    notes: Sequence[str],
) -> str:
    """The message of an answer."""
    parts = [_summary(request, before, state, plan)]
    if plan.cost_before > 0:
        parts.append(_proof(plan.cost_after, bound))
    hot = int(state.hot().sum())
    if hot:
        rules = Counter(refusal.rule for refusal in refusals)
        told = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common(3))
        told = f"of the hottest {len(refusals)}: {told}" if len(refusals) < hot else told
        parts.append(f"{_nodes(hot)} still above the target ({told})")
    if request.move_cost:
        parts.append(f"an eviction of ordinary price costs {request.move_cost:g}; moves that gain no more are left out")
    unknown = int((~state.load.is_known).sum())
    if unknown:
        parts.append(f"the load of {_nodes(unknown)} is not known or not trusted: neither judged nor sent anything")
    return "; ".join([*parts, *notes])


def _summary(request: PlanRequest, before: Before, state: LoadState, plan: LocalSearchResult) -> str:
    if not request.prediction.columns.node_count:
        return "there are no nodes"
    telling = LoadMessages(request.prediction.columns.cluster, state.load)
    if not plan.cost_before:
        return f"no node is above its target; {telling.target()}; the nearest is {telling.hottest(before.use)}"
    if not plan.evictions:
        hottest = f"hottest {telling.hottest(before.use)}"
        return f"{_left(plan.cost_after)}; no allowed move helps; {telling.target()}; {hottest}"
    price = f"by {plan.evictions} eviction{'s' if plan.evictions != 1 else ''}"
    hottest = f"hottest {telling.hottest(before.use)} before, {telling.hottest(state.use())} after"
    start = f"{plan.cost_before:.4g} nodes' worth before"
    return f"{_left(plan.cost_after)} {price}; {start}; {telling.target()}; {hottest}"


def _left(value: float) -> str:
    return f"{value:.4g} {UNIT} left" if value else "no load above the target is left"


def _proof(value: float, bound: float) -> str:
    if value <= bound:
        return "proven: no plan leaves less"
    return f"less is not ruled out: at least {bound:.4g} {UNIT} stays"


def _nodes(number: int) -> str:
    return f"{number} node{'s' if number != 1 else ''}"
