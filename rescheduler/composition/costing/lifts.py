"""The rules that keep nodes in use, each with the cluster and the policy as they would be without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from msgspec.structs import replace as with_changes

from rescheduler.costs.fleet import payer_of
from rescheduler.costs.node_prices import NodePrices
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.annotations import DO_NOT_DISRUPT, DO_NOT_EVICT, PREFER_NO_EVICTION, SAFE_TO_EVICT
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.kinds_of_pods import PersistentVolumes
from rescheduler.policy.fields.policy import Permission, Policy

World = tuple[Cluster, Policy]


@dataclass(frozen=True)
class Lift:
    """One rule and how the world looks without it. ``worth``: price of the nodes that it keeps, by itself or not."""

    rule: str
    object: str
    pods: int
    nodes: int
    worth: float
    without: Callable[[], World]


def lifts_of(cluster: Cluster, policy: Policy, eligibility: Eligibility, prices: NodePrices, plan: Plan) -> list[Lift]:
    """Those of the most worth first. ``plan``: with all of them, which says which limits bind."""
    kept: defaultdict[tuple[str, str], list[Pod]] = defaultdict(list)
    for index, refusal in eligibility.refusals.items():
        pod = cluster.pods[index]
        node = cluster.node_by_name.get(pod.node_name or "")
        if node is None or not prices.of(node) or node.name in prices.kept or pod.belongs_to_its_node:
            continue
        for name in _objects(refusal.rule, pod, cluster):
            kept[refusal.rule, name].append(pod)
    world = (cluster, policy)
    found = [_lift(rule, name, pods, world, prices) for (rule, name), pods in kept.items()]
    found += _limits(cluster, policy, prices, plan)
    return sorted(found, key=lambda lift: (-lift.worth, lift.rule, lift.object))


_MARKS: Final[Mapping[str, str]] = {
    "DoNotDisrupt": DO_NOT_DISRUPT,
    "SafeToEvict": SAFE_TO_EVICT,
    "PreferNoEviction": PREFER_NO_EVICTION,
    "DoNotEvict": DO_NOT_EVICT,
}
_PERMISSIONS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "SingleReplica": ("disruption.singleReplicas", {"single_replicas": Permission.ALLOW}),
    "Ownerless": ("disruption.ownerless", {"ownerless": Permission.ALLOW}),
    "LocalStorage": ("disruption.localStorage", {"local_storage": Permission.ALLOW}),
    "PersistentVolume": (
        "disruption.persistentVolumes",
        {"persistent_volumes": PersistentVolumes(storage_classes=None)},
    ),
    "WithoutBudget": ("disruption.withoutBudget", {"without_budget": Permission.ALLOW}),
    "NotReady": ("disruption.notReady", {"not_ready": Permission.ALLOW}),
    "Rollout": ("disruption.unsettled", {"unsettled": Permission.ALLOW}),
}
_LIMITS: Final = {
    "limits.maxEvictions": "max_evictions",
    "limits.maxEvictionsPerNode": "max_evictions_per_node",
    "limits.maxEvictionsPerNamespace": "max_evictions_per_namespace",
}
_NO_LIMIT: Final = 1_000_000


def _objects(rule: str, pod: Pod, cluster: Cluster) -> Iterator[str]:
    """What the rule is, by name: a budget, a workload whose pods are marked, a field of the policy; none: not ours."""
    if rule == "PodDisruptionBudget":
        budgets = cluster.budgets_by_namespace.get(pod.namespace, ())
        yield from (budget.key for budget in budgets if selects(budget.selector, pod.labels))
    elif rule in _MARKS:
        yield payer_of(pod, cluster)
    elif rule in _PERMISSIONS:
        yield _PERMISSIONS[rule][0]


def _lift(rule: str, name: str, pods: Sequence[Pod], world: World, prices: NodePrices) -> Lift:
    cluster, policy = world
    nodes = {pod.node_name for pod in pods}
    worth = sum(prices.of(cluster.node_by_name[node]) for node in nodes if node is not None)

    def without() -> World:
        if rule == "PodDisruptionBudget":
            return replace(cluster, budgets=tuple(one for one in cluster.budgets if one.key != name)), policy
        if rule in _MARKS:
            return _unmarked(cluster, _MARKS[rule], {pod.key for pod in pods}), policy
        disruption = policy.disruption.model_copy(update=dict(_PERMISSIONS[rule][1]))
        return cluster, policy.model_copy(update={"disruption": disruption})

    return Lift(rule, name, len(pods), len(nodes), worth, without)


def _unmarked(cluster: Cluster, mark: str, keys: set[str]) -> Cluster:
    def bare(pod: Pod) -> Pod:
        kept = {key: value for key, value in pod.annotations.items() if key != mark}
        return with_changes(pod, annotations=kept)

    return replace(cluster, pods=tuple(bare(pod) if pod.key in keys else pod for pod in cluster.pods))


def _limits(cluster: Cluster, policy: Policy, prices: NodePrices, plan: Plan) -> Iterator[Lift]:
    """Limits that the plan names as binding; each might keep all that costs anything."""
    in_use = [node for node in cluster.nodes if prices.of(node) and node.name not in prices.kept]
    worth = sum(prices.of(node) for node in in_use)
    told = " ".join(objective.message for objective in plan.objectives)
    for name, field in _LIMITS.items():
        if getattr(policy.limits, field) is not None and f"{name} " in told:

            def without(field: str = field) -> World:
                unlimited = _NO_LIMIT if field == "max_evictions" else None
                limits = policy.limits.model_copy(update={field: unlimited})
                return cluster, policy.model_copy(update={"limits": limits})

            yield Lift("Limit", name, 0, len(in_use), worth, without)
