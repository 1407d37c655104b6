"""Budgets that name what a cluster has not, or that allow whole workloads of it to be down."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.model.cluster import Cluster
from rescheduler.model.label_selectors import describe, read_selector, selects
from rescheduler.model.printable import printable
from rescheduler.policy.budgets import Budget, Per


def loose_budgets(budgets: tuple[Budget, ...], cluster: Cluster) -> Iterator[str]:
    """One sentence for each thing that was surely not meant."""
    for number, budget in enumerate(budgets):
        path = f"disruption.budgets[{number}]"
        known = {pod.namespace for pod in cluster.pods} if budget.namespaces else frozenset[str]()
        for name in budget.namespaces or ():
            if name not in known:
                yield f"{path}.namespaces: the cluster has no pod in namespace {name}"
        if budget.label_selector is not None:
            selector = read_selector(budget.label_selector)
            if not any(selects(selector, labels) for labels in {id(p.labels): p.labels for p in cluster.pods}.values()):
                yield f"{path}.labelSelector: the cluster has no pod with {printable(describe(selector), 120)}"
        yield from _whole_workloads(path, budget, cluster)


def _whole_workloads(path: str, budget: Budget, cluster: Cluster) -> Iterator[str]:
    """A number of pods of one workload that is all that it has; its floor holds all the same."""
    if budget.per is not Per.WORKLOAD or not isinstance(budget.max_unavailable, int):
        return
    workloads = {workload.uid: workload for workload in map(cluster.workload_of, cluster.pods) if workload is not None}
    small = [
        workload.key
        for workload in workloads.values()
        if 1 < (workload.desired_replicas or 0) <= budget.max_unavailable
        and (budget.namespaces is None or workload.namespace in budget.namespaces)
    ]
    if small:
        more = f" and of {len(small) - 1} more" if len(small) > 1 else ""
        yield (
            f"{path}.maxUnavailable: {budget.max_unavailable} would allow all replicas of {small[0]}{more} to be down; "
            "only disruption.workloads.maxUnavailable keeps some of them"
        )
