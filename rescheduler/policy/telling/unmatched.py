"""What a policy names and a cluster has not: valid, but surely not what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rescheduler.model.columns.selectors import describe, read_selector, selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.policy.fields.budgets import Budget, Per
from rescheduler.policy.fields.objectives import DefragmentArgs, EmptyNodesArgs, NodePrice, SeparateAntagonistsArgs
from rescheduler.policy.fields.policy import Policy, Scope
from rescheduler.policy.fields.selectors import PolicySelector
from rescheduler.policy.reading.objective_arguments import arguments_of

# Budgets that name what a cluster has not, or that allow whole workloads of it to be down.


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


def unmatched(policy: Policy, cluster: Cluster) -> Iterator[str]:
    """One sentence for each namespace, selector, label and resource of the policy that nothing in the cluster has."""
    nodes = [node.labels for node in cluster.nodes]
    pods = list({id(pod.labels): pod.labels for pod in cluster.pods}.values())
    yield from _scope(policy.scope, cluster, nodes, pods)
    yield from loose_budgets(policy.disruption.budgets, cluster)
    for number, objective in enumerate(policy.objectives):
        args, path = arguments_of(objective), f"objectives[{number}].args"
        if isinstance(args, EmptyNodesArgs):
            yield from _selected(f"{path}.nodeSelector", "node", args.node_selector, nodes)
            yield from _priced(f"{path}.price", args.price, nodes)
        elif isinstance(args, SeparateAntagonistsArgs):
            for at, found in enumerate(args.sets):
                for member, selector in enumerate(found.members):
                    yield from _selected(f"{path}.sets[{at}].members[{member}]", "pod", selector, pods)
        elif isinstance(args, DefragmentArgs):
            offered = {name for node in cluster.nodes for name, _ in node.allocatable}
            for at, shape in enumerate(args.shapes):
                for name in sorted(set(shape.resources) - offered):
                    yield f"{path}.shapes[{at}]: no node offers {printable(name, 60)}"


def _scope(
    scope: Scope, cluster: Cluster, nodes: Iterable[Mapping[str, str]], pods: Iterable[Mapping[str, str]]
) -> Iterator[str]:
    known = {pod.namespace for pod in cluster.pods}
    for name in scope.namespaces.include or ():
        if name not in known:
            yield f"scope.namespaces.include: the cluster has no pod in namespace {name}"
    namespaces = [namespace.labels for namespace in cluster.namespaces]
    yield from _selected("scope.namespaceSelector", "namespace", scope.namespace_selector, namespaces)
    yield from _selected("scope.labelSelector", "pod", scope.label_selector, pods)
    yield from _selected("scope.nodeSelector", "node", scope.node_selector, nodes)


def _selected(path: str, kind: str, selector: PolicySelector, labels: Iterable[Mapping[str, str]]) -> Iterator[str]:
    read = read_selector(selector)
    if read.requirements and not any(selects(read, found) for found in labels):
        yield f"{path}: the cluster has no {kind} with {printable(describe(read), 120)}"


def _priced(path: str, price: NodePrice | None, nodes: Iterable[Mapping[str, str]]) -> Iterator[str]:
    if (
        price is not None
        and price != NodePrice(default=price.default)
        and not any(price.label in each for each in nodes)
    ):
        yield f"{path}: no node has the label {printable(price.label, 60)}; each counts as {price.default:g}"
