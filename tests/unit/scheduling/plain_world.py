"""A cluster as plain lists, for reference rules written without arrays: slow, and obviously right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm, PodAffinityTerm, Requirement, Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod


@dataclass
class World:
    """Every pod that stands on a node, once for each node it stands on, without the pod whose place is sought."""

    cluster: Cluster
    standing: list[tuple[Pod, Node]]

    def on(self, node: Node) -> Iterator[Pod]:
        """Pods on one node."""
        return (pod for pod, where in self.standing if where is node)


def world_without(pod: int, placement: Placement) -> World:
    """The world that the pod of this index is to be placed in."""
    cluster = placement.columns.cluster
    standing = [
        (other, cluster.nodes[place])
        for number, other in enumerate(cluster.pods)
        for place in (placement.node_of[number], placement.leaving[number])
        if number != pod and place != NOWHERE
    ]
    return World(cluster, standing)


def rule_holds(rule: Requirement, labels: Mapping[str, str]) -> bool:
    """One rule of a selector."""
    has, value = rule.key in labels, labels.get(rule.key, "")
    match rule.operator:
        case "In":
            return has and value in rule.values
        case "NotIn":
            return not has or value not in rule.values
        case "Exists":
            return has
        case "DoesNotExist":
            return not has
        case "Gt":
            return has and value.isdigit() and rule.values[0].isdigit() and int(value) > int(rule.values[0])
        case "Lt":
            return has and value.isdigit() and rule.values[0].isdigit() and int(value) < int(rule.values[0])
    raise AssertionError(rule.operator)


def selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """A label selector; an absent one selects nothing."""
    return selector is not None and all(rule_holds(rule, labels) for rule in selector.requirements)


def node_term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """A node selector term; an empty one matches nothing."""
    if not term.expressions and not term.fields:
        return False
    fields = {"metadata.name": node.name}
    return all(rule_holds(rule, node.labels) for rule in term.expressions) and all(
        rule_holds(rule, fields) for rule in term.fields
    )


def is_demanded(pod: Pod, node: Node) -> bool:
    """Node selector and required node affinity."""
    if any(node.labels.get(key) != value for key, value in pod.spec.node_selector):
        return False
    affinity = pod.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(node_term_matches(term, node) for term in affinity.required)


def is_tolerated(pod: Pod, taint: Taint) -> bool:
    """Whether any toleration covers the taint."""
    for toleration in pod.spec.tolerations:
        if toleration.effect and toleration.effect != taint.effect:
            continue
        if toleration.key and toleration.key != taint.key:
            continue
        if toleration.operator == "Exists" or toleration.value == taint.value:
            return True
    return False


def hard_taints(node: Node) -> list[Taint]:
    """Taints that keep pods off."""
    return [taint for taint in node.taints if taint.effect != "PreferNoSchedule"]


def term_selects(world: World, term: PodAffinityTerm, holder: Pod, other: Pod) -> bool:
    """Whether an affinity term of ``holder`` selects ``other``."""
    if term.namespace_selector is None and not term.namespaces:
        in_namespace = other.namespace == holder.namespace
    else:
        labels = {
            "kubernetes.io/metadata.name": other.namespace,
            **world.cluster.namespace_labels.get(other.namespace, {}),
        }
        in_namespace = other.namespace in term.namespaces or selector_matches(term.namespace_selector, labels)
    return in_namespace and selector_matches(term.selector, other.labels)


def share_domain(key: str, one: Node, other: Node) -> bool:
    """Whether two nodes carry the same value of a topology key."""
    return key in one.labels and one.labels[key] == other.labels.get(key)
