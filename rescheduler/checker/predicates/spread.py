"""Topology spread constraints that must hold (DoNotSchedule)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rescheduler.checker.predicates.node import hostile_taint, matches_node
from rescheduler.checker.selectors import label_selector_matches
from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, Labels, World
from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.pod import Pod


def spread(arrival: Arrival, others: Others, world: World) -> str | None:
    """The arrival must not raise the skew above its limit in any order of the wave.

    The worst order: those that come to the same domain have come, those that would raise the least domain have not.
    """
    hard = tuple(item for item in arrival.pod.spec.topology_spread if item.when_unsatisfiable == "DoNotSchedule")
    for constraint in hard:
        if constraint.topology_key not in arrival.node.labels:
            return f"the node has no label {constraint.topology_key}, which the pod's topology spread needs"
    keys = tuple(item.topology_key for item in hard)
    for constraint in hard:
        skew = _skew(arrival, others, world, constraint, keys)
        if skew > constraint.max_skew:
            return f"topology spread over {constraint.topology_key}: skew {skew}, at most {constraint.max_skew}"
    return None


def _skew(
    arrival: Arrival,
    others: Others,
    world: World,
    constraint: TopologySpreadConstraint,
    keys: tuple[str, ...],
) -> int:
    """count(domain) + self - min, after kube-scheduler's definition."""
    pod = arrival.pod
    selector = _with_label_keys(constraint, pod)
    domain_of = _domains(pod, constraint, keys, world)
    here = arrival.node.labels[constraint.topology_key]
    counts = Counter(_none_counted(domain_of, world))
    if selector is not None and selector.requirements:  # an empty selector counts nobody, and yet selects the pod
        for name, number in _standing(world, selector, pod.namespace).items():
            if name in domain_of:
                counts[domain_of[name]] += number
        if pod.node_name is not None and pod.node_name in domain_of:
            counts[domain_of[pod.node_name]] -= label_selector_matches(selector, pod.labels)
        for other in others.picked(selector):
            if other.pod.namespace == pod.namespace and domain_of.get(other.node.name) == here:
                counts[here] += label_selector_matches(selector, other.pod.labels)
    least = min(counts.values()) if len(counts) >= max(1, constraint.min_domains) else 0
    return counts.get(here, 0) + label_selector_matches(selector, pod.labels) - least


def _standing(world: World, selector: LabelSelector, namespace: str) -> Mapping[str, int]:
    """Pods by node that the selector counts: of the namespace, not terminating."""

    def picks(labels: Labels) -> bool:
        return label_selector_matches(selector, labels)

    return world.count(("spread", selector, namespace), frozenset({namespace}), picks, (selector,), standing_only=True)


def _domains(pod: Pod, constraint: TopologySpreadConstraint, keys: tuple[str, ...], world: World) -> Mapping[str, str]:
    """Domain of each node that counts: it carries the keys of all hard constraints and passes the two policies."""
    spec = pod.spec
    labels_matter = (spec.node_selector, spec.node_affinity) if constraint.honors_node_affinity else None
    taints_matter = spec.tolerations if constraint.honors_node_taints else None
    key = ("domains", constraint.topology_key, keys, labels_matter, taints_matter)
    if key not in world.kept:
        world.kept[key] = {
            node.name: node.labels[constraint.topology_key]
            for node in world.cluster.nodes
            if all(name in node.labels for name in keys)
            and (labels_matter is None or matches_node(spec, node))
            and (taints_matter is None or hostile_taint(node, spec) is None)
        }
    return world.kept[key]


def _none_counted(domain_of: Mapping[str, str], world: World) -> Mapping[str, int]:
    """0 for each domain; ``domain_of`` is kept by the world, so that its identity tells it."""
    key = ("none", id(domain_of))
    if key not in world.kept_counts:
        world.kept_counts[key] = dict.fromkeys(domain_of.values(), 0)
    return world.kept_counts[key]


def _with_label_keys(constraint: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    """The selector narrowed to the pod's own values of ``matchLabelKeys``; an absent selector stays absent."""
    if constraint.selector is None:
        return None
    own = [Requirement(key, "In", (pod.labels[key],)) for key in constraint.match_label_keys if key in pod.labels]
    return LabelSelector((*constraint.selector.requirements, *own))
