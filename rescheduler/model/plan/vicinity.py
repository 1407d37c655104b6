"""What one move depends on, read anew just before its pod is sent, and how a snapshot takes it in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    asked = _pods_asked_for(cluster, move, selectors)
    changes = {**dict.fromkeys(pod.key for pod in asked), **{pod.key: pod for pod in vicinity.pods}}
    nodes = {node.name: node for node in cluster.nodes if node.name not in (move.from_node, move.to_node)}
    nodes |= {node.name: node for node in vicinity.nodes}
    others = (budget for budget in cluster.budgets if budget.namespace != move.pod.namespace)
    return replace(
        cluster.with_pods(changes),
        budgets=tuple(sorted((*others, *vicinity.budgets), key=lambda item: (item.namespace, item.name))),
        nodes=tuple(nodes[name] for name in sorted(nodes)),
        workloads=_patched_workloads(cluster, () if before is None else owners_of(cluster, before), vicinity),
        taken_at=taken_at,
    )


def _pods_asked_for(cluster: Cluster, move: Move, selectors: tuple[LabelSelector | None, ...]) -> Iterator[Pod]:
    """Pods of the snapshot that would be among those that were read if they still stood as they were."""
    for node in (move.from_node, move.to_node):
        yield from cluster.pods_by_node.get(node, ())
        yield from cluster.finished_pods_by_node.get(node, ())
    if (own := cluster.pod_by_key.get(move.pod.key)) is not None:
        yield own
    for picked in selectors:
        namespace = move.pod.namespace
        yield from (
            cluster.pods_by_namespace.get(namespace, ()) if picked is None else cluster.selected(namespace, picked)
        )


def _patched_workloads(cluster: Cluster, asked: tuple[Workload, ...], vicinity: Vicinity) -> tuple[Workload, ...]:
    """All workloads in order; the very same tuple where none of those that were asked for has changed."""
    found = {workload.key: workload for workload in vicinity.workloads}
    before = {workload.key: workload for workload in asked}
    if found.keys() == before.keys() and all(found[key] is workload for key, workload in before.items()):
        return cluster.workloads
    return tuple(found.get(item.key, item) for item in cluster.workloads if item.key not in before or item.key in found)
