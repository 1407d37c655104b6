"""Nodes that would be emptied but for pods that must stay, told with those pods and why."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.model.disruption import Eligibility
from rescheduler.model.plan import Refusal
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.remaining_limits import UNLIMITED

_MOST_NAMED = 3
MOVED_ALREADY = "MovedAlready"


def blocked_nodes(situation: Situation, eligibility: Eligibility) -> tuple[Refusal, ...]:
    """One refusal for each selected node that only pods which must stay keep in use, those with the fewest first.

    ``eligibility`` is what was asked with: it knows why pods must stay. Nodes that the limits keep in use anyway are
    left out.
    """
    limits = situation.limits
    if 0 in (limits.in_all, int(limits.of_node.max(initial=0)), limits.of_other_namespaces):
        return ()
    is_within_limits = situation.movable_on <= np.minimum(limits.of_node, limits.in_all)
    blocked = situation.is_source & (situation.pods_on > situation.movable_on) & is_within_limits
    nodes = np.flatnonzero(blocked)
    stays = situation.pods_on[nodes] - situation.movable_on[nodes]
    is_movable = np.zeros(situation.columns.pod_count, dtype=np.bool_)
    is_movable[situation.problem.movable] = True
    staying = np.flatnonzero(situation.counts & ~is_movable)
    at = situation.start.node_of[staying]
    order = np.argsort(at, kind="stable")
    staying, at = staying[order], at[order]
    reasons = _Reasons(situation, eligibility)
    return tuple(
        _refusal(situation, int(node), staying[np.searchsorted(at, node) : np.searchsorted(at, node, "right")], reasons)
        for node in nodes[np.lexsort((nodes, stays))].tolist()
    )


def _refusal(situation: Situation, node: int, pods: IntArray, reasons: _Reasons) -> Refusal:
    told = [reasons.of(pod) for pod in pods.tolist()]
    name = situation.columns.cluster.nodes[node].name
    more = f"; and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    words = "; ".join(message for _, message in told[:_MOST_NAMED])
    return Refusal(rule=told[0][0], message=f"{name} stays in use, because {words}{more}", node=name)


class _Reasons:
    """Why a pod that is on a node must stay there."""

    def __init__(self, situation: Situation, eligibility: Eligibility) -> None:
        self._situation = situation
        self._refusals = eligibility.refusals
        self._spent = {pod: group for group in eligibility.groups if group.allowed_per_wave <= 0 for pod in group.pods}

    def of(self, pod: int) -> tuple[str, str]:
        """Rule and message."""
        key = self._situation.columns.cluster.pods[pod].key
        if pod in self._refusals:
            return self._refusals[pod].rule, self._refusals[pod].message
        if pod in self._spent:
            group = self._spent[pod]
            return group.rule, f"{key} belongs to {group.rule} {group.name}, which allows no disruption now"
        initial = self._situation.columns.initial_node_of[pod]
        if initial < 0:
            return MOVED_ALREADY, f"{key} gets its place there by an earlier objective of this plan"
        if self._situation.start.node_of[pod] != initial:
            return MOVED_ALREADY, f"{key} goes there by an earlier objective of this plan, and a pod moves once only"
        return "Eligibility", f"{key} may not be moved"


def binding_limits(situation: Situation, evictions: int) -> tuple[str, ...]:
    """Names of the limits that keep nodes out, or leave too little for one more."""
    limits = situation.limits
    given = situation.eligibility.limits
    found = []
    usual = situation.is_source & (situation.pods_on > 0) & (situation.pods_on == situation.movable_on)
    nodes = np.flatnonzero(usual)
    least = int(situation.pods_on[nodes].min(initial=UNLIMITED))
    if limits.in_all < UNLIMITED and (limits.in_all == 0 or _is_short(situation, nodes, evictions)):
        found.append(limits.names[0])
    if given.max_evictions_per_node is not None and (situation.pods_on[nodes] > limits.of_node[nodes]).any():
        found.append(limits.names[1])
    if any((number[nodes] > 0).any() for number in situation.namespaces_on.values()):
        found.append(limits.names[2])
    return tuple(found) if least < UNLIMITED or limits.in_all == 0 else ()


def _is_short(situation: Situation, nodes: IntArray, evictions: int) -> bool:
    """Whether some node that is still in use has more pods than evictions are left."""
    left = situation.limits.in_all - evictions
    return bool((situation.pods_on[nodes] > left).any())
