"""Counts pods above what spread constraints allow in their domains."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from rescheduler.checker.predicates.node import hostile_taint, matches_node
from rescheduler.checker.recounts.final_positions import FinalPopulation, Standing
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec


def excess(cluster: Cluster, standing: Standing, population: FinalPopulation) -> int:
    """Pods above what each constraint that holds for somebody allows in their domain.

    Constraints that count the same pods over the same nodes with the same limits are one.
    """
    domains = _Domains(cluster.nodes)
    holders = {
        (pod.namespace, frozenset(pod.labels.items()), pod.spec.topology_spread, _node_rules(pod.spec)): pod
        for pod, _ in standing
        if pod.spec.topology_spread
    }
    seen: set[Hashable] = set()
    total = 0
    for pod in holders.values():
        hard = [item for item in pod.spec.topology_spread if item.when_unsatisfiable == "DoNotSchedule"]
        for constraint in hard:
            nodes = domains.of(pod.spec, constraint, tuple(item.topology_key for item in hard))
            counted = population.picked(_selector(constraint, pod), pod.namespace.__eq__)
            limits = (constraint.topology_key, constraint.max_skew, constraint.min_domains)
            identity = (limits, frozenset(kind.number for kind in counted), nodes.names)
            if identity not in seen:
                seen.add(identity)
                total += _excess_of(constraint, population.standing(counted), nodes)
    return total


def _node_rules(spec: PodSpec) -> Hashable:
    return spec.node_selector, spec.node_affinity, spec.tolerations


def _selector(constraint: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    """The selector narrowed to the pod's own ``matchLabelKeys``; None where it is absent or empty and counts nobody."""
    if constraint.selector is None:
        return None
    own = [Requirement(key, "In", (pod.labels[key],)) for key in constraint.match_label_keys if key in pod.labels]
    rules = (*constraint.selector.requirements, *own)
    return LabelSelector(rules) if rules else None


class _Counted(NamedTuple):
    """The nodes that a constraint counts: ``names``, the domain of each, and ``nobody``, no pod in each domain."""

    names: frozenset[str]
    domain_of: Mapping[str, str]
    nobody: Mapping[str, int]


class _Domains:
    """The nodes that constraints count, by domain; each question is answered once."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._known: dict[Hashable, _Counted] = {}

    def of(self, spec: PodSpec, constraint: TopologySpreadConstraint, keys: tuple[str, ...]) -> _Counted:
        """Domain of each node that a constraint counts: it carries all keys and passes the two policies."""
        labels_matter = (spec.node_selector, spec.node_affinity) if constraint.honors_node_affinity else None
        taints_matter = spec.tolerations if constraint.honors_node_taints else None
        key = (constraint.topology_key, keys, labels_matter, taints_matter)
        if key not in self._known:
            domain_of = {
                node.name: node.labels[constraint.topology_key]
                for node in self._nodes
                if all(name in node.labels for name in keys)
                and (labels_matter is None or matches_node(spec, node))
                and (taints_matter is None or hostile_taint(node, spec) is None)
            }
            self._known[key] = _Counted(frozenset(domain_of), domain_of, dict.fromkeys(domain_of.values(), 0))
        return self._known[key]


def _excess_of(constraint: TopologySpreadConstraint, on_nodes: Mapping[str, int], counted: _Counted) -> int:
    counts = dict(counted.nobody)
    for name, number in on_nodes.items():
        if name in counted.domain_of:
            counts[counted.domain_of[name]] += number
    if not counts:
        return 0
    least = min(counts.values()) if len(counts) >= constraint.min_domains else 0
    return sum(max(0, number - least - constraint.max_skew) for number in counts.values())
