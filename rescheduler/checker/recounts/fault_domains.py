"""Counts anew, with none of the planner's code, which running pods violate what binds them when they are placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rescheduler.checker.predicates.node import is_tolerated, matches_node
from rescheduler.checker.recounts.affinity_violations import repelled_pairs, without_company
from rescheduler.checker.recounts.final_positions import FinalPopulation, standing_after
from rescheduler.checker.recounts.spread_violations import excess
from rescheduler.checker.world import World
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.plan.plan import Plan

_CONDITIONS = "node.kubernetes.io/"


def violations_left(cluster: Cluster, plan: Plan) -> int:
    """All violations once the plan is carried out; see ``violations_by_rule``."""
    return sum(violations_by_rule(cluster, plan).values())


def violations_by_rule(cluster: Cluster, plan: Plan) -> Mapping[str, int]:
    """Violations by rule once the plan is carried out.

    ``NodeAffinity``: pods whose node would not admit them (selector, required affinity, a NoSchedule taint that is not
    one of the node's conditions); those of a DaemonSet or made by the kubelet are left out. ``AntiAffinity``: pairs
    in one domain of which one repels the other, once for each topology key. ``Affinity``: pods without the company that
    they require. ``Spread``: for each DoNotSchedule constraint and domain the pods above the least domain and the
    allowed skew.
    """
    standing = standing_after(cluster, plan)
    world = World(cluster)
    population = FinalPopulation((pod for pod in cluster.pods if not pod.is_terminating), standing)
    banning = {node.name: _banning(node) for node in cluster.nodes}
    return {
        "NodeAffinity": sum(
            not _is_admitted(pod.spec, node, banning[node.name]) and not pod.belongs_to_its_node
            for pod, node in standing
        ),
        "AntiAffinity": repelled_pairs(population, world),
        "Affinity": without_company(standing, population, world),
        "Spread": excess(cluster, standing, population),
    }


def _banning(node: Node) -> list[Taint]:
    return [taint for taint in node.taints if taint.effect == "NoSchedule" and not taint.key.startswith(_CONDITIONS)]


def _is_admitted(spec: PodSpec, node: Node, banning: Sequence[Taint]) -> bool:
    return matches_node(spec, node) and all(is_tolerated(taint, spec) for taint in banning)
