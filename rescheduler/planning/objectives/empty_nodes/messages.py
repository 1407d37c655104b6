"""What a plan to empty nodes says of itself: how many, at what price, what is proven, and what stands in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Refusal
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution
from rescheduler.planning.problem.remaining_limits import UNLIMITED

# Nodes that would be emptied but for pods that must stay, told with those pods and why.

_MOST_BLOCKED_NAMED = 3
MOVED_ALREADY = "MovedAlready"


def blocked_nodes(situation: EmptyingSituation, eligibility: Eligibility) -> tuple[Refusal, ...]:
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


def _refusal(situation: EmptyingSituation, node: int, pods: IntArray, reasons: _Reasons) -> Refusal:
    told = [reasons.of(pod) for pod in pods.tolist()]
    name = situation.columns.cluster.nodes[node].name
    more = f"; and {len(told) - _MOST_BLOCKED_NAMED} more" if len(told) > _MOST_BLOCKED_NAMED else ""
    words = "; ".join(message for _, message in told[:_MOST_BLOCKED_NAMED])
    return Refusal(rule=told[0][0], message=f"{name} stays in use, because {words}{more}", node=name)


class _Reasons:
    """Why a pod that is on a node must stay there."""

    def __init__(self, situation: EmptyingSituation, eligibility: Eligibility) -> None:
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


MAX_NODES: Final = "maxNodes of EmptyNodes"


def binding_limits(situation: EmptyingSituation, solution: Solution) -> tuple[str, ...]:
    """Names of the limits that keep nodes out, or leave too little for one more; first that on nodes, where reached."""
    reached = len(solution.emptied) >= situation.most_nodes < len(situation.candidates)
    return (*([MAX_NODES] if reached else []), *_binding_move_limits(situation, solution.evictions))


def _binding_move_limits(situation: EmptyingSituation, evictions: int) -> tuple[str, ...]:
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


def _is_short(situation: EmptyingSituation, nodes: IntArray, evictions: int) -> bool:
    """Whether some node that is still in use has more pods than evictions are left."""
    left = situation.limits.in_all - evictions
    return bool((situation.pods_on[nodes] > left).any())


_MOST_NAMED = 8


def describe(
    situation: EmptyingSituation,
    solution: Solution,
    bound: float,
    refusals: Sequence[Refusal],
    limits: Sequence[str],
    notes: Sequence[str],
) -> str:
    """The message of an answer."""
    parts = [_summary(situation, solution), _proof(situation, solution, bound)]
    if limits and solution.value < _all_that_could_be(situation):
        parts.append(f"{' and '.join(limits)} {'leaves' if len(limits) == 1 else 'leave'} too little for other nodes")
    if refusals:
        rules = Counter(refusal.rule for refusal in refusals)
        told = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common(3))
        parts.append(f"{_nodes(len(refusals))} kept in use by pods that must stay ({told})")
    if not solution.emptied and not notes:
        parts.append(_why_none(situation))
    return "; ".join([part for part in parts if part] + list(notes))


def _summary(situation: EmptyingSituation, solution: Solution) -> str:
    if not solution.emptied:
        return "no node is emptied"
    names = [situation.columns.cluster.nodes[node].name for node in solution.emptied]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    count = solution.evictions
    told = f"{_nodes(len(names))} emptied by {count} eviction{'s' if count != 1 else ''}: "
    told += ", ".join(names[:_MOST_NAMED]) + more
    used = round(len(names) - solution.value) if _counts_nodes(situation) else 0
    if used > 0:
        told += (
            f"; {_nodes(used)} that {'was' if used == 1 else 'were'} empty are used instead, and taken off the value"
        )
    if not _counts_nodes(situation):
        told += f"; worth {_amount(situation, solution.value)}"
    return told


def _proof(situation: EmptyingSituation, solution: Solution, bound: float) -> str:
    if not _is_below(solution.value, bound):
        return "proven: no plan reaches more" if solution.emptied else "proven: no plan empties any"
    if situation.money:
        return f"more is not ruled out: at most {_amount(situation, bound)}"
    unit = "nodes" if _counts_nodes(situation) else "in price"
    return f"more is not ruled out: at most {bound:g} {unit if bound != 1 else unit.removesuffix('s')}"


def _amount(situation: EmptyingSituation, value: float) -> str:
    return f"{value:.2f} {situation.money}" if situation.money else f"{value:g}"


def _why_none(situation: EmptyingSituation) -> str:
    if not (situation.is_source & (situation.pods_on > 0)).any():
        return "every node that may be emptied is empty already" if situation.is_source.any() else "no node is selected"
    if not len(situation.candidates):
        return "on every node in use some pod must stay, or a limit is exceeded"
    return f"the pods of {_nodes(len(situation.candidates))} that could be emptied do not find room elsewhere"


def _all_that_could_be(situation: EmptyingSituation) -> float:
    return float(situation.price[situation.is_source & (situation.pods_on > 0)].sum())


def _counts_nodes(situation: EmptyingSituation) -> bool:
    return not situation.money and bool((situation.price[situation.is_source] == 1).all())


def _nodes(number: int) -> str:
    return f"{number} node{'s' if number != 1 else ''}"


def _is_below(value: float, bound: float) -> bool:
    return value < bound - 1e-9 * max(1.0, abs(bound))
