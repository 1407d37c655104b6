"""Puts together what a cluster costs and what each rule costs, by planning with it and without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace as with_changes

from rescheduler.costs.fleet import Fleet, fleet_of, payer_of
from rescheduler.costs.node_prices import NodePrices, node_prices
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.selectors import selects
from rescheduler.model.costs import Costs, RuleCost
from rescheduler.model.objects.annotations import DO_NOT_DISRUPT, DO_NOT_EVICT, PREFER_NO_EVICTION, SAFE_TO_EVICT
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.plan import EMPTY_NODES, Plan
from rescheduler.policy.fields.kinds_of_pods import PersistentVolumes
from rescheduler.policy.fields.policy import Objective, Permission, Policy

MOST_RULES: Final = 10
FIRST_SHARE: Final = 0.3
"""Of the time, for the plan with all rules; the others share the rest."""


def costs_of(cluster: Cluster, policy: Policy, options: CycleOptions) -> Costs:
    """Within the policy's deadline. Raises ReschedulerError where no node has a price."""
    prices = node_prices(policy, cluster)
    if prices is None:
        raise ReschedulerError("no node has a price (policy: prices), so nothing can be said of costs")
    deadline = policy.limits.deadline

    def planned(world: World, share: float) -> Plan:
        return make_plan(world[0], _for_money(world[1], deadline * share), options)

    first = planned((cluster, policy), FIRST_SHARE)
    schedulers = options.schedulers
    seen, asked = schedulers.configured(without_leaving_taints(cluster)), _for_money(policy, deadline)
    eligibility = decide_eligibility(
        seen, asked, options.selection, schedulers.names, ledger=options.ledger, stop=options.stop
    )
    lifts = lifts_of(cluster, policy, eligibility, prices, first)[:MOST_RULES]
    share = (1 - FIRST_SHARE) / max(1, len(lifts))
    rules = [_rule_cost(lift, first, planned(lift.without(), share)) for lift in lifts]
    return _costs(first, fleet_of(cluster, prices), rules)


def _costs(first: Plan, fleet: Fleet, rules: list[RuleCost]) -> Costs:
    rules.sort(key=lambda rule: (-rule.saving, -rule.at_most, rule.rule, rule.object))
    return Costs(
        cost=_cost(first),
        idle=fleet.idle,
        by_pool=fleet.by_pool,
        by_namespace=fleet.by_namespace,
        by_owner=fleet.by_owner,
        rules=tuple(rule for rule in rules if rule.at_most > 0),
        warnings=first.warnings,
    )


def _for_money(policy: Policy, deadline: float) -> Policy:
    """The policy with EmptyNodes alone, for money and at any number of evictions that its limits let be."""
    own = next((one for one in policy.objectives if one.name == EMPTY_NODES), Objective(name=EMPTY_NODES))
    args = {name: value for name, value in own.args.items() if name != "price"}
    objective = Objective(name=EMPTY_NODES, args=args)
    limits = policy.limits.model_copy(update={"deadline": deadline})
    return policy.model_copy(update={"objectives": (objective,), "limits": limits})


def _rule_cost(lift: Lift, first: Plan, without: Plan) -> RuleCost:
    """A plan without the rule is never worse than one with it, which is a plan without it too."""
    saving = max(0.0, _cost(without).saving - _cost(first).saving)
    bound, value = without.objectives[0].bound, first.objectives[0].value or 0.0
    at_most = max(saving, _cost(without).before if bound is None else bound - value)
    return RuleCost(lift.rule, lift.object, lift.pods, lift.nodes, round(saving, 2), round(at_most, 2))


def _cost(found: Plan) -> Cost:
    assert found.cost is not UNSET
    assert isinstance(found.cost, Cost)
    return found.cost


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
