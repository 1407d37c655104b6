"""Counts again, from names and objects and with none of the planner's arrays, what a plan reaches for each plugin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from rescheduler.checker.recounts.affinity_violations import repelled_pairs
from rescheduler.checker.recounts.final_positions import FinalPopulation, standing_after
from rescheduler.checker.recounts.overload import overload_left
from rescheduler.checker.recounts.recounts import Recount
from rescheduler.checker.recounts.spread_violations import excess
from rescheduler.checker.world import World
from rescheduler.descheduler.improving.ends import RelievedEnd, RepairedEnd, VacatedEnd, wrong_rules
from rescheduler.descheduler.improving.scopes import PluginScope
from rescheduler.descheduler.plugins.duplicates import RemoveDuplicatesArguments, crowds_of
from rescheduler.descheduler.plugins.inter_pod_anti_affinity import InterPodAntiAffinityArguments
from rescheduler.descheduler.plugins.topology_spread import TopologySpreadArguments
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.problem.objective import PlanningObjective

_HARD = "DoNotSchedule"


def recount_of(end: PlanningObjective, cluster: Cluster) -> Recount | None:
    """None: spread that is only wished for is not counted a second time."""
    if isinstance(end, RelievedEnd):
        if end.judged.message:
            return Recount(False, lambda _: 0.0)
        reached = partial(overload_left, cluster, observed=end.observed, target=end.args.target)
        return Recount(False, reached)
    if isinstance(end, VacatedEnd):
        return Recount(True, partial(_emptied, cluster, end))
    assert isinstance(end, RepairedEnd)
    arguments = end.scope.arguments
    if isinstance(arguments, RemoveDuplicatesArguments):
        return Recount(False, partial(_crowded, cluster, end.scope))
    if isinstance(arguments, InterPodAntiAffinityArguments):
        return Recount(False, partial(_repelled, cluster, end.scope))
    if isinstance(arguments, TopologySpreadArguments):
        return Recount(False, partial(_skewed, cluster, end.scope)) if arguments.constraints == (_HARD,) else None
    return Recount(False, partial(_misplaced, cluster, end.scope))


def _places(cluster: Cluster, plan: Plan) -> Mapping[str, str]:
    return {pod.key: node.name for pod, node in standing_after(cluster, plan)}


def _emptied(cluster: Cluster, end: VacatedEnd, plan: Plan) -> float:
    """Nodes below thresholds that have pods before the plan and none after it, less those that it begins to use."""
    names = {node.name for node in end.emptied}
    before, after = Counter[str](), Counter[str]()
    places = {move.pod.key: move.to_node for move in plan.moves} | {item.pod.key: item.node for item in plan.placements}
    for pod in cluster.pods:
        if pod.is_finished or pod.belongs_to_its_node:
            continue
        if pod.node_name is not None:
            before[pod.node_name] += 1
        after[places.get(pod.key, pod.node_name or "")] += 1
    by_others = {move.to_node for move in plan.moves if move.objective != end.name}
    gone = sum(before[name] > 0 and not after[name] for name in names)
    spoiled = sum(not before[name] and after[name] > 0 and name not in by_others for name in names)
    return 0.0 if end.judged.message else float(gone - spoiled)


def _crowded(cluster: Cluster, scope: PluginScope, plan: Plan) -> float:
    places, total = _places(cluster, plan), 0
    assert isinstance(scope.arguments, RemoveDuplicatesArguments)
    for crowd in crowds_of(scope.turn, scope.arguments).values():
        on_nodes = Counter(places[pod.key] for some in crowd.by_node.values() for pod in some if pod.key in places)
        total += sum(max(0, count - crowd.share) for count in on_nodes.values())
    return float(total)


def _repelled(cluster: Cluster, scope: PluginScope, plan: Plan) -> float:
    seen = {cluster.pods[pod].key for pod in scope.seen}
    standing = [(pod, node) for pod, node in standing_after(cluster, plan) if pod.key in seen]
    return float(repelled_pairs(FinalPopulation((pod for pod, _ in standing), standing), World(cluster)))


def _skewed(cluster: Cluster, scope: PluginScope, plan: Plan) -> float:
    movable = {cluster.pods[pod].key for pod in scope.movable}
    standing = standing_after(cluster, plan)
    population = FinalPopulation((pod for pod in cluster.pods if not pod.is_terminating), standing)
    return float(excess(cluster, [(pod, node) for pod, node in standing if pod.key in movable], population))


def _misplaced(cluster: Cluster, scope: PluginScope, plan: Plan) -> float:
    places, total = _places(cluster, plan), 0
    for rule in wrong_rules(scope):
        for pod in (cluster.pods[number] for number in rule.among):
            home = cluster.node_by_name.get(pod.node_name or "")
            if home is not None and pod.key in places:
                total += rule.is_wrong(pod, home, cluster.node_by_name[places[pod.key]])
    return float(total)
