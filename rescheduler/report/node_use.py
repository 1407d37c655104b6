"""What the nodes that a plan touches hold before and after it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rescheduler.model.cluster import Cluster
from rescheduler.model.node import Node
from rescheduler.model.plan import Plan, PlanResult
from rescheduler.model.pod import Pod
from rescheduler.model.resources import CPU, MEMORY, PODS, Resources, format_amount

SHOWN_FIRST = (CPU, MEMORY)


class NodeUse(NamedTuple):
    """One node: what it offers, and what pods have asked of it before and after, by resource (``pods`` too)."""

    node: Node
    offered: Mapping[str, int]
    before: Mapping[str, int]
    after: Mapping[str, int]


def uses_of(plan: Plan | PlanResult, cluster: Cluster, *, and_others: int = 0) -> tuple[NodeUse, ...]:
    """Every node that a pod leaves or arrives on, by name, and then as many of the others as are asked for.

    Nodes and pods that the cluster lacks are left out.
    """
    arrivals, departures = _changes(plan, cluster)
    touched = sorted({*arrivals, *departures} & set(cluster.node_by_name))
    others = [node.name for node in cluster.nodes if node.name not in arrivals and node.name not in departures]
    answer = []
    for name in [*touched, *others[:and_others]]:
        node = cluster.node_by_name[name]
        before = _total(pod.held or pod.spec.requests for pod in cluster.pods_by_node.get(name, ()))
        after = before.copy()
        after.update(_total(pod.spec.requests for pod in arrivals[name]))
        after.subtract(_total(pod.held or pod.spec.requests for pod in departures[name]))
        answer.append(NodeUse(node, dict(node.allocatable), before, after))
    return tuple(answer)


def resources_shown(uses: Iterable[NodeUse]) -> tuple[str, ...]:
    """CPU and memory, and every other resource whose use the plan changes, but for the number of pods."""
    changed = {name for use in uses for name in use.after if use.after[name] != use.before.get(name, 0)}
    return (*SHOWN_FIRST, *sorted(changed - {*SHOWN_FIRST, PODS}))


def in_one_unit(resource: str, amount: int) -> str:
    """An amount for a column: cores in decimals, so that a column does not mix cores and millicores."""
    return f"{amount / 1000:g}" if resource == CPU else format_amount(resource, amount)


def _changes(
    plan: Plan | PlanResult, cluster: Cluster
) -> tuple[defaultdict[str, list[Pod]], defaultdict[str, list[Pod]]]:
    arrivals: defaultdict[str, list[Pod]] = defaultdict(list)
    departures: defaultdict[str, list[Pod]] = defaultdict(list)
    for move in plan.moves:
        pod = cluster.pod_by_key.get(move.pod.key)
        if pod is not None:
            arrivals[move.to_node].append(pod)
            departures[move.from_node].append(pod)
    for placement in plan.placements:
        pod = cluster.pod_by_key.get(placement.pod.key)
        if pod is not None:
            arrivals[placement.node].append(pod)
    return arrivals, departures


def _total(amounts: Iterable[Resources]) -> Counter[str]:
    total: Counter[str] = Counter()
    for resources in amounts:
        total[PODS] += 1
        for name, amount in resources:
            total[name] += amount
    return total
