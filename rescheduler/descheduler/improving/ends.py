"""What each plugin is after, as an objective of our planner: the end of its own rules, then the fewest evictions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from rescheduler.descheduler.arguments import DeschedulerArguments
from rescheduler.descheduler.improving.judged_use import use_as_judged
from rescheduler.descheduler.improving.scopes import PluginScope
from rescheduler.descheduler.plugins.duplicates import Crowd, RemoveDuplicatesArguments, crowds_of
from rescheduler.descheduler.plugins.inter_pod_anti_affinity import InterPodAntiAffinityArguments
from rescheduler.descheduler.plugins.node_rules import (
    PREFERRED,
    REQUIRED,
    NodeAffinityArguments,
    NodeTaintsArguments,
    has_required,
    is_liked_less,
    is_untolerated,
)
from rescheduler.descheduler.plugins.node_utilization import (
    HighNodeUtilizationArguments,
    Judged,
    LowNodeUtilizationArguments,
    judge_for_relief,
    judge_for_vacating,
)
from rescheduler.descheduler.plugins.topology_spread import TopologySpreadArguments
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.spread import SpreadDomains, SpreadRule
from rescheduler.model.objects.node import Node, kept_mark
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Status
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.objective import EmptyNodes
from rescheduler.planning.objectives.fault_domains.anti_affinity_violations import repulsions_of
from rescheduler.planning.objectives.fault_domains.misplaced import Misplaced
from rescheduler.planning.objectives.fault_domains.objective import FaultDomains
from rescheduler.planning.objectives.fault_domains.part import ViolationCounter
from rescheduler.planning.objectives.fault_domains.spread_violations import SpreadViolations, skews_of
from rescheduler.planning.objectives.fault_domains.state import ViolationsState, standing_pods
from rescheduler.planning.objectives.spread_load.objective import SpreadLoad
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.policy.fields.objectives import EmptyNodesArgs, FaultDomainsArgs, SpreadLoadArgs

# Pods on nodes that a plugin takes for wrong.

WrongNodes = Callable[[int], BoolArray]
"""Of a pod (index) the nodes on which it would be wrong, bool[N]."""


class WrongRule(NamedTuple):
    """Whether a pod of ``among`` (indices) whose home is one node would be wrong on another; ``told``: in words."""

    among: frozenset[int]
    is_wrong: Callable[[Pod, Node, Node], bool]
    told: str


class WrongPlaces(Misplaced):
    """Pods of a scope that stand where a plugin's rule does not want them; other pods count for nothing."""

    def __init__(self, problem: Problem, pods: IntArray, wrong: WrongNodes, told: str) -> None:
        """``wrong`` does not change as pods move; ``told``: of what it is a violation, in words."""
        self._node_of = problem.start.node_of.copy()
        self._nodes = problem.node_count
        self._among = frozenset(pods.tolist())
        self._rule, self._told = wrong, told
        self._kinds = np.column_stack([problem.columns.shape_of, problem.columns.initial_node_of])
        self._masks: dict[bytes, BoolArray] = {}
        self._wrong = {pod for pod in pods.tolist() if self.is_barred(pod)[self._node_of[pod]]}

    def change(self, pod: int) -> FloatArray:
        """See ViolationCounter."""
        wrong = self.is_barred(pod).astype(np.float64)
        change: FloatArray = wrong - wrong[self._node_of[pod]]
        return change

    def move(self, pod: int, node: int) -> None:
        """See ViolationCounter."""
        self._node_of[pod] = node
        self._wrong.discard(pod)
        if self.is_barred(pod)[node]:
            self._wrong.add(pod)

    def concerns(self) -> IntArray | None:
        """See ViolationCounter."""
        return np.array(sorted(self._among), dtype=np.int64)

    def copy(self) -> WrongPlaces:
        """See ViolationCounter."""
        other = copy(self)
        other._node_of, other._wrong = self._node_of.copy(), set(self._wrong)
        return other

    def describe(self) -> str:
        """See ViolationCounter."""
        return self._told

    def is_barred(self, pod: int) -> BoolArray:
        """Nodes on which the pod is wrong, bool[N]."""
        if pod not in self._among:
            return np.zeros(self._nodes, dtype=np.bool_)
        kind = self._kinds[pod].tobytes()
        if kind not in self._masks:
            self._masks[kind] = self._rule(pod)
        return self._masks[kind]


def wrong_places(problem: Problem, rules: Iterable[WrongRule]) -> list[ViolationCounter]:
    """One part for each rule."""
    nodes, pods = problem.columns.cluster.nodes, problem.columns.cluster.pods
    found: list[ViolationCounter] = []
    for rule in rules:
        among = np.flatnonzero(standing_pods(problem) & _mask(problem.columns, rule.among))

        def barred(pod: int, rule: WrongRule = rule) -> BoolArray:
            home = nodes[int(problem.columns.initial_node_of[pod])]
            return np.array([rule.is_wrong(pods[pod], home, node) for node in nodes], dtype=np.bool_)

        found.append(WrongPlaces(problem, among, barred, rule.told))
    return found


def wrong_rules(scope: PluginScope) -> list[WrongRule]:
    """What a plugin takes for a wrong place, if that is all it looks at."""
    step, arguments = scope.turn, scope.arguments
    if isinstance(arguments, NodeTaintsArguments):
        told = "taints that pods on their node do not tolerate"
        return [WrongRule(scope.seen, lambda pod, _, node: is_untolerated(node, pod, arguments), told)]
    if not isinstance(arguments, NodeAffinityArguments):
        return [WrongRule(scope.victims, lambda _, home, node: node is home, f"what {step.plugin} evicts for")]
    rules = {
        REQUIRED: WrongRule(
            scope.seen, lambda pod, _, node: has_required(pod) and not step.fitting.matches(pod, node),
            "required node affinity",
        ),
        PREFERRED: WrongRule(
            scope.seen,
            lambda pod, home, node: is_liked_less(step, pod, home)
            and step.fitting.preference(pod, node) <= step.fitting.preference(pod, home),
            "preferred node affinity that another node meets better",
        ),
    }  # fmt: skip
    return [rules[kind] for kind in dict.fromkeys(arguments.node_affinity_type) if kind in rules]


# Too many of one identity on one node.


class CrowdedNodes(SpreadViolations):
    """Pods of one identity above their share on a node: spread over nodes, counted from zero."""

    def __init__(self, problem: Problem, crowd: Crowd, told: str) -> None:
        index = problem.columns.pod_index
        pods = np.array(sorted(index[pod.key] for some in crowd.by_node.values() for pod in some), dtype=np.int64)
        every = np.ones(problem.node_count, dtype=np.bool_)
        codes = np.arange(problem.node_count, dtype=np.int32)
        rule = SpreadRule("node", crowd.share, 0, pods, 1, every)
        super().__init__(SpreadDomains(rule, codes, every, every, is_from_zero=True), problem.start.node_of)
        self._told = told

    def describe(self) -> str:
        """See ViolationCounter."""
        return self._told


def _parts_of(scope: PluginScope, problem: Problem) -> list[ViolationCounter]:
    columns, node_of, arguments = problem.columns, problem.start.node_of, scope.arguments
    standing = standing_pods(problem)
    if isinstance(arguments, RemoveDuplicatesArguments):
        crowds = crowds_of(scope.turn, arguments).items()
        return [CrowdedNodes(problem, crowd, f"pods of {key[1]} {key[0]}/{key[2]} above {crowd.share} on a node")
                for key, crowd in crowds]  # fmt: skip
    if isinstance(arguments, TopologySpreadArguments):
        holders = np.flatnonzero(standing & _mask(columns, scope.movable))
        return [part for kind in dict.fromkeys(arguments.constraints)
                for part in skews_of(columns, node_of, holders, kind)]  # fmt: skip
    if isinstance(arguments, InterPodAntiAffinityArguments):
        return list(repulsions_of(columns, node_of, standing & _mask(columns, scope.seen)))
    return wrong_places(problem, wrong_rules(scope))


def _mask(columns: Columns, pods: Collection[int]) -> BoolArray:
    found = np.zeros(columns.pod_count, dtype=np.bool_)
    found[list(pods)] = True
    return found


# The objectives.

_NOUNS: Final[Mapping[type[DeschedulerArguments], str]] = {
    NodeTaintsArguments: "node taints",
    NodeAffinityArguments: "node affinity",
    RemoveDuplicatesArguments: "even shares",
    TopologySpreadArguments: "topology spread",
    InterPodAntiAffinityArguments: "anti-affinity",
}


@dataclass(frozen=True, eq=False)
class RepairedEnd(FaultDomains):
    """The fewest violations of what a plugin looks at, by pods that it may evict, then the fewest evictions."""

    scope: PluginScope = field(kw_only=True)

    @property
    def rules(self) -> str:  # type: ignore[override]
        """See FaultDomains."""
        return _NOUNS.get(type(self.scope.arguments), "age and state")

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """See FaultDomains."""
        return super().plan(self.scope.narrowed(request))

    def state(self, problem: Problem) -> ViolationsState:
        """Violations of the plugin's sort."""
        return ViolationsState(problem, _parts_of(self.scope, problem))


@dataclass(frozen=True, eq=False)
class RelievedEnd(SpreadLoad):
    """LowNodeUtilization: no node above ``targetThresholds``, in the use that the plugin judges by."""

    scope: PluginScope = field(kw_only=True)
    judged: Judged = field(kw_only=True)

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """See SpreadLoad; nothing where the plugin finds nothing to do."""
        return _idle(self.judged, "nodes' worth of overload") or super().plan(self.scope.narrowed(request))


@dataclass(frozen=True, eq=False)
class VacatedEnd(EmptyNodes):
    """HighNodeUtilization: the most nodes below ``thresholds`` emptied whole, by the fewest evictions."""

    scope: PluginScope = field(kw_only=True)
    judged: Judged = field(kw_only=True)

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """See EmptyNodes; nothing where the plugin finds nothing to do."""
        return _idle(self.judged, "nodes") or super().plan(self.scope.narrowed(request))

    @cached_property
    def is_selected(self) -> BoolArray | None:
        """Nodes below thresholds that somebody may take away, bool[N]."""
        found = np.zeros(self.setting.columns.node_count, dtype=np.bool_)
        found[[self.setting.columns.node_index[node.name] for node in self.emptied]] = True
        return found

    @property
    def emptied(self) -> list[Node]:
        """The same nodes by themselves."""
        return [use.node for use in self.judged.sources if kept_mark(use.node) is None]


def _idle(judged: Judged, unit: str) -> ObjectivePlan | None:
    return ObjectivePlan(Status.OPTIMAL, 0.0, 0.0, unit, judged.message) if judged.message else None


def end_of(scope: PluginScope, columns: Columns) -> PlanningObjective:
    """What a plugin is after, named as it is."""
    arguments, turn = scope.arguments, scope.turn
    if isinstance(arguments, LowNodeUtilizationArguments):
        judged = judge_for_relief(turn, arguments)
        observed = use_as_judged(judged, columns)
        target = {name: judged.bounds[name] / 100 for name in observed.resources}
        setting = ObjectiveSetting(columns, observed)
        args = SpreadLoadArgs.model_construct(target=target, statistic="mean")
        return _named(RelievedEnd, turn.plugin)(args, setting, scope=scope, judged=judged)
    setting = ObjectiveSetting(columns)
    if isinstance(arguments, HighNodeUtilizationArguments):
        judged = judge_for_vacating(turn, arguments)
        return _named(VacatedEnd, turn.plugin)(EmptyNodesArgs(), setting, scope=scope, judged=judged)
    return _named(RepairedEnd, turn.plugin)(FaultDomainsArgs(), setting, scope=scope)


def _named(form: type[PlanningObjective], plugin: str) -> Callable[..., PlanningObjective]:
    """Objectives are named by their class."""
    return type(plugin, (form,), {"name": plugin})
