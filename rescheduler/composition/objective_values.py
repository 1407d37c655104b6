"""What each objective of a policy is worth as a cluster stands, without planning anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.checker.recounts.fault_domains import violations_left
from rescheduler.checker.recounts.fitting_shapes import shapes_that_fit
from rescheduler.checker.recounts.overload import overload_left
from rescheduler.costs.node_prices import NodePrices, node_prices, worth_emptying
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.columns.columns import Columns, columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.plan import Plan, SnapshotSummary
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.planning.objectives.scheduler_score.estimates import estimated_gains
from rescheduler.planning.problem.problem import Problem
from rescheduler.policy.fields.objectives import (
    DefragmentArgs,
    EmptyNodesArgs,
    SchedulerScoreArgs,
    SeparateAntagonistsArgs,
    SpreadLoadArgs,
)
from rescheduler.policy.fields.policy import Policy, with_unrest
from rescheduler.policy.reading.objective_arguments import arguments_of
from rescheduler.scheduling.schedulers import Schedulers
from rescheduler.usage.observed_use import observed_use
from rescheduler.usage.targets import targets_as_numbers

_NO_PLAN: Final = Plan(snapshot=SnapshotSummary(taken_at=None, nodes=0, pods=0, pending_pods=0, source=""))
"""What stands after it is what stands."""


def objective_values(
    cluster: Cluster,
    policy: Policy,
    schedulers: Schedulers,
    usage: UsageWindows | None,
    names: Collection[str] | None = None,
) -> Mapping[str, float]:
    """The value of each objective of ours in the policy by its name, lower is better; ``names``: only of these.

    MakeRoom: pending pods that may be helped. EmptyNodes: price of the nodes in use that it may empty. SpreadLoad: use
    above the targets. SeparateAntagonists: pairs on one node. Defragment: minus the worth of the shapes that fit.
    FaultDomains: violations. SchedulerScore: about the points that single moves would gain. On a large cluster this
    takes seconds, most of them for SchedulerScore.
    """
    case = _Case(cluster, policy, schedulers, usage)
    found = {objective.name: arguments_of(objective) for objective in policy.objectives if objective.name in _VALUES}
    return {name: float(_VALUES[name](case, args)) for name, args in found.items() if names is None or name in names}


@dataclass(frozen=True)
class _Case:
    """One snapshot, and what is made of it at most once."""

    seen: Cluster
    policy: Policy
    schedulers: Schedulers
    usage: UsageWindows | None

    @cached_property
    def cluster(self) -> Cluster:
        """As the schedulers see it."""
        return self.schedulers.configured(without_leaving_taints(self.seen))

    @cached_property
    def prices(self) -> NodePrices | None:
        return node_prices(self.policy, self.cluster)

    @cached_property
    def columns(self) -> Columns:
        return columns_of(self.cluster)


def _waiting(case: _Case, _: Any) -> float:
    known = case.schedulers.names
    return len(decide_eligibility(case.cluster, case.policy, schedulers=known).helpable)


def _price_in_use(case: _Case, args: EmptyNodesArgs) -> float:
    """Price of nodes with pods that do not live and die with them; without prices a node counts 1."""
    selector = read_selector(args.node_selector)
    used = {pod.node_name for pod in case.cluster.pods if not pod.is_finished and not pod.belongs_to_its_node}
    return sum(
        worth_emptying(node, args, case.prices)
        for node in case.cluster.nodes
        if node.name in used and not node.is_virtual and node.problem is None and selects(selector, node.labels)
    )


def _overload(case: _Case, args: SpreadLoadArgs) -> float:
    observed = observed_use(case.columns, case.usage, args.statistic, tuple(args.target))
    return overload_left(case.cluster, _NO_PLAN, observed, targets_as_numbers(args.target, case.columns, observed))


def _pairs(case: _Case, args: SeparateAntagonistsArgs) -> float:
    return pairs_left(case.cluster, _NO_PLAN, args, case.cluster.taken_at)


def _shapes(case: _Case, args: DefragmentArgs) -> float:
    return -shapes_that_fit(case.cluster, _NO_PLAN, [(shape.requests, shape.weight) for shape in args.shapes])


def _violations(case: _Case, _: Any) -> float:
    return violations_left(case.cluster, _NO_PLAN)


def _gains(case: _Case, args: SchedulerScoreArgs) -> float:
    known = case.schedulers.names
    prediction = case.schedulers.model(case.cluster, is_for_planning=True)
    # Whether workloads are at rest changes from moment to moment, and not what moving their pods would be worth.
    eligibility = decide_eligibility(case.cluster, with_unrest(case.policy), schedulers=known)
    placement = Placement(prediction.columns)
    gains = estimated_gains(Problem(prediction, placement, eligibility), placement)
    return float(gains[gains >= args.minimum_gain].sum())


_VALUES: Final[Mapping[str, Callable[[_Case, Any], float]]] = {
    "MakeRoom": _waiting,
    "EmptyNodes": _price_in_use,
    "SpreadLoad": _overload,
    "SeparateAntagonists": _pairs,
    "Defragment": _shapes,
    "FaultDomains": _violations,
    "SchedulerScore": _gains,
}
