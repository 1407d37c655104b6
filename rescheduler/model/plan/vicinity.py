"""What one move depends on, read anew just before its pod is sent, and how a snapshot takes it in."""

from __future__ import annotations

from bisect import insort
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.plan import Move


class Vicinity(NamedTuple):
    """Objects as they stand. What was asked for and is not among them is not there any more.

    ``pods``: the pod itself, those that the selectors of ``counted_with`` match, and those on both nodes.
    ``budgets``: all of the pod's namespace. ``nodes``: the pod's own and the destination. ``workloads``: the pod's
    owners that the snapshot knows. ``age_seconds``: so much older than the question all but the pod itself may be; less
    than 0 where the answer is of a later time.
    """

    pods: tuple[Pod, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    nodes: tuple[Node, ...] = ()
    workloads: tuple[Workload, ...] = ()
    age_seconds: float = 0.0


def owners_of(cluster: Cluster, pod: Pod) -> tuple[Workload, ...]:
    """The pod's chain of owners, as far as the snapshot holds them as objects of their own."""
    found = (cluster.owner_of(pod), cluster.workload_of(pod))
    known = {workload.uid: workload for workload in found if workload is not None and not workload.is_inferred}
    return tuple(known.values())


def counted_with(cluster: Cluster, pod: Pod, budgets: tuple[DisruptionBudget, ...]) -> tuple[LabelSelector | None, ...]:
    """Selectors of the pods that are counted together with this one: by its workload, and by budgets that cover it.

    None: all of the namespace, where nobody knows what tells an owner's pods from others.
    """
    covering = [budget.selector for budget in budgets if selects(budget.selector, pod.labels)]
    workload = cluster.workload_of(pod)
    own = [] if workload is None else [workload.selector]
    return (None,) if None in own else tuple(dict.fromkeys([*own, *covering]))


def patched(cluster: Cluster, move: Move, vicinity: Vicinity, taken_at: float) -> Cluster:
    """The snapshot with what was read anew in the place of what it held; ``taken_at``: the time of that reading."""
    before = cluster.pod_by_key.get(move.pod.key)
    pod = next((found for found in vicinity.pods if found.key == move.pod.key), before)
    selectors = () if pod is None else counted_with(cluster, pod, vicinity.budgets)
    pods = _patched_pods(cluster, vicinity.pods, move, selectors)
    asked = () if before is None else owners_of(cluster, before)
    workloads = {workload.key: workload for workload in asked}
    found_workloads = {workload.key: workload for workload in vicinity.workloads}
    nodes = {node.name: node for node in cluster.nodes if node.name not in (move.from_node, move.to_node)}
    nodes |= {node.name: node for node in vicinity.nodes}
    others = (budget for budget in cluster.budgets if budget.namespace != move.pod.namespace)
    return replace(
        cluster,
        pods=tuple(pods),
        budgets=tuple(sorted((*others, *vicinity.budgets), key=lambda item: (item.namespace, item.name))),
        nodes=tuple(nodes[name] for name in sorted(nodes)),
        workloads=tuple(
            found_workloads.get(item.key, item)
            for item in cluster.workloads
            if item.key not in workloads or item.key in found_workloads
        ),
        taken_at=taken_at,
    )


def _patched_pods(
    cluster: Cluster, new: tuple[Pod, ...], move: Move, selectors: tuple[LabelSelector | None, ...]
) -> list[Pod]:
    """All pods in order. Of a large cluster nearly all are as before: what is done for each of them is little."""
    place = attrgetter("namespace", "name")
    ends, own = (move.from_node, move.to_node), move.pod.namespace
    names = {pod.name for pod in new}
    keys = {place(pod) for pod in new}
    pods = [
        pod
        for pod in cluster.pods
        if pod.node_name not in ends
        and not (pod.namespace == own and _is_counted(pod, move, selectors))
        and not (pod.name in names and place(pod) in keys)
    ]
    for pod in {place(pod): pod for pod in new}.values():
        insort(pods, pod, key=place)
    return pods


def _is_counted(pod: Pod, move: Move, selectors: tuple[LabelSelector | None, ...]) -> bool:
    """Whether a pod of the same namespace would be among those that were read, if it still stood as it was."""
    if pod.name == move.pod.name:
        return True
    return any(selector is None or selects(selector, pod.labels) for selector in selectors)
