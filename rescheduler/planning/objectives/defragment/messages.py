"""What a plan that makes room for shapes says of itself: shapes before and after, the price, and what blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Refusal
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation, held_on_nodes
from rescheduler.planning.search.search_state import SearchState

# Nodes on which a shape would fit but for pods that must stay, told with those pods and why.

_MOST_NODES = 100
_MOST_PODS = 3


def blocked_nodes(situation: DefragmentSituation) -> IntArray:
    """Nodes where some shape fits if they are empty, and not as long as pods stay that must; ascending."""
    shapes, problem = situation.shapes, situation.problem
    possible = shapes.often(problem.free + held_on_nodes(situation))
    empty = shapes.often(problem.columns.allocatable)
    is_closed = problem.free < -problem.columns.allocatable  # by earlier objectives, not by pods
    stuck = ((possible == 0) & (empty > 0)).any(axis=0) & ~is_closed.any(axis=0)
    return np.flatnonzero(stuck)


def refusals_of(situation: DefragmentSituation, nodes: IntArray, eligibility: Eligibility) -> tuple[Refusal, ...]:
    """One refusal for each of these nodes (the first hundred), with the largest pods that must stay there."""
    columns = situation.columns
    is_movable = np.zeros(columns.pod_count, dtype=np.bool_)
    is_movable[situation.problem.movable] = True
    node_of = situation.problem.start.node_of
    is_blocked = np.zeros(columns.node_count + 1, dtype=np.bool_)  # one more for pods that are nowhere
    is_blocked[nodes[:_MOST_NODES]] = True
    staying = np.flatnonzero(~is_movable & is_blocked[node_of])
    scale = np.maximum(1, columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
    size = (columns.requests[:, columns.shape_of[staying]] / scale[:, None]).max(axis=0, initial=0.0)
    staying = staying[np.lexsort((staying, -size))]
    return tuple(
        _refusal(situation, node, staying[node_of[staying] == node].tolist(), eligibility)
        for node in nodes[:_MOST_NODES].tolist()
    )


def _refusal(situation: DefragmentSituation, node: int, pods: list[int], eligibility: Eligibility) -> Refusal:
    name = situation.columns.cluster.nodes[node].name
    told = [_why(situation, pod, eligibility) for pod in pods[:_MOST_PODS]]
    more = [f"and {len(pods) - _MOST_PODS} more"] if len(pods) > _MOST_PODS else []
    rule = told[0][0] if told else "Eligibility"
    words = "; ".join([message for _, message in told] + more)
    return Refusal(rule=rule, message=f"no room for the shapes can be made on {name}: {words}", node=name)


def _why(situation: DefragmentSituation, pod: int, eligibility: Eligibility) -> tuple[str, str]:
    """Rule and message."""
    key = situation.columns.cluster.pods[pod].key
    refusal = eligibility.refusals.get(pod)
    if refusal is not None:
        return refusal.rule, refusal.message if key in refusal.message else f"{key}: {refusal.message}"
    spent = next((group for group in eligibility.groups if group.allowed_per_wave <= 0 and pod in group.pods), None)
    if spent is not None:
        return spent.rule, f"{key} belongs to {spent.rule} {spent.name}, which allows no disruption now"
    return "Eligibility", f"{key} may not be moved, or has moved already"


_MOST_NAMED = 3


def describe(situation: DefragmentSituation, current: SearchState, bound: float) -> str:
    """The message of an answer; the moves stand on the search state."""
    parts = [_shapes(situation, current), _price(current), _proof(situation, current, bound)]
    parts += _limits(situation, current, bound)
    parts += [_taints(situation), _blocked(situation)]
    return "; ".join(part for part in parts if part)


def reason_of(situation: DefragmentSituation, current: SearchState) -> Callable[[int, int], str]:
    """Why a pod (index) is moved."""
    nodes, problem = situation.columns.cluster.nodes, situation.problem
    before, after = situation.shapes.often(problem.free), situation.shapes.often(current.free)
    names = situation.shapes.names

    def reason(pod: int, _: int) -> str:
        home = int(problem.start.node_of[pod])
        gained = (after - before)[:, home].tolist()
        more = [f"{count} more of {name}" for count, name in zip(gained, names, strict=True) if count > 0]
        return f"makes room on {nodes[home].name} for " + " or ".join(more) if more else "makes room for another move"

    return reason


def _shapes(situation: DefragmentSituation, current: SearchState) -> str:
    before = situation.shapes.often(situation.problem.free).sum(axis=1).tolist()
    after = situation.shapes.often(current.free).sum(axis=1).tolist()
    told = ", ".join(
        f"{name}: {first} -> {last}" for name, first, last in zip(situation.shapes.names, before, after, strict=True)
    )
    return f"pods that fit, each shape counted alone: {told}"


def _price(current: SearchState) -> str:
    count = len(current.moved)
    if not count:
        return "no pod is moved"
    cost = f" that cost {current.charged:g}" if current.charged else ""
    return f"{count} eviction{'s' if count != 1 else ''}{cost}"


def _proof(situation: DefragmentSituation, current: SearchState, bound: float) -> str:
    value = -current.state.cost
    unit = "" if situation.shapes.is_counted else " in weight"
    if value >= bound - 1e-9 * max(1.0, abs(bound)):
        return "proven: no plan lets more fit"
    return f"more is not ruled out: at most {bound:g}{unit}"


def _limits(situation: DefragmentSituation, current: SearchState, bound: float) -> list[str]:
    if -current.state.cost >= bound:
        return []
    left = situation.limits.in_all - len(current.moved)
    return [f"{situation.limits.names[0]} is used up"] if left <= 0 else []


def _taints(situation: DefragmentSituation) -> str:
    shapes = situation.shapes
    told = [
        f"{number} for {name}" for number, name in zip(shapes.tainted.tolist(), shapes.names, strict=True) if number
    ]
    return f"nodes left out for their taints: {', '.join(told)}" if told else ""


def _blocked(situation: DefragmentSituation) -> str:
    """Nodes where a shape would fit if pods that must stay could leave."""
    nodes = blocked_nodes(situation).tolist()
    if not nodes:
        return ""
    names = ", ".join(situation.columns.cluster.nodes[node].name for node in nodes[:_MOST_NAMED])
    more = f" and {len(nodes) - _MOST_NAMED} more" if len(nodes) > _MOST_NAMED else ""
    verb = "node holds" if len(nodes) == 1 else "nodes hold"
    return f"{len(nodes)} {verb} too many pods that must stay ({names}{more})"
