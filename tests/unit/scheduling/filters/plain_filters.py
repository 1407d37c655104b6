"""kube-scheduler's predicates, pod by pod and node by node."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from tests.unit.scheduling.plain_world import (
    World,
    hard_taints,
    is_demanded,
    is_tolerated,
    rule_holds,
    selector_matches,
    share_domain,
    term_selects,
)

Refusals = list[tuple[str, bool]]
"""Reasons, each with whether an eviction could help."""


def node_unschedulable(world: World, pod: Pod, node: Node) -> Refusals:
    """A cordon."""
    tolerated = any(
        t.key in ("", "node.kubernetes.io/unschedulable")
        and t.effect in ("", "NoSchedule")
        and (t.operator == "Exists" or t.value == "")
        for t in pod.spec.tolerations
    )
    return [("node(s) were unschedulable", False)] if node.is_unschedulable and not tolerated else []


def taint_toleration(world: World, pod: Pod, node: Node) -> Refusals:
    """Taints."""
    if all(is_tolerated(pod, taint) for taint in hard_taints(node)):
        return []
    return [("node(s) had untolerated taint(s)", False)]


def node_affinity(world: World, pod: Pod, node: Node) -> Refusals:
    """Node selector and affinity."""
    return [] if is_demanded(pod, node) else [("node(s) didn't match Pod's node affinity/selector", False)]


def node_ports(world: World, pod: Pod, node: Node) -> Refusals:
    """Host ports."""
    for mine in pod.spec.host_ports:
        for other in world.on(node):
            for theirs in other.spec.host_ports:
                same_port = (mine.port, mine.protocol or "TCP") == (theirs.port, theirs.protocol or "TCP")
                addresses = {mine.host_ip or "0.0.0.0", theirs.host_ip or "0.0.0.0"}
                if same_port and (len(addresses) == 1 or "0.0.0.0" in addresses):
                    return [("node(s) didn't have free ports for the requested pod ports", True)]
    return []


def node_resources_fit(world: World, pod: Pod, node: Node) -> Refusals:
    """Resources."""
    offered = dict(node.allocatable)
    used: dict[str, int] = {"pods": 0}
    for other in world.on(node):
        used["pods"] += 1
        is_where_it_was = other.node_name == node.name
        held = other.held if other.held is not None and is_where_it_was else other.spec.requests
        for name, amount in held:
            used[name] = used.get(name, 0) + amount
    found = []
    if used["pods"] + 1 > offered.get("pods", 0):
        found.append(("Too many pods", offered.get("pods", 0) >= 1))
    for name, amount in pod.spec.requests:
        if amount > offered.get(name, 0) - used.get(name, 0):
            found.append((f"Insufficient {name}", amount <= offered.get(name, 0)))
    return found


def pod_topology_spread(world: World, pod: Pod, node: Node) -> Refusals:
    """DoNotSchedule constraints; the first that fails speaks."""
    rules = [rule for rule in pod.spec.topology_spread if rule.when_unsatisfiable == "DoNotSchedule"]
    for rule in rules:
        if rule.topology_key not in node.labels:
            return [("node(s) didn't match pod topology spread constraints (missing required label)", False)]
        selector = effective_selector(rule, pod)
        domains: dict[str, int] = {}
        for other in world.cluster.nodes:
            if not all(r.topology_key in other.labels for r in rules) or not policies_pass(rule, pod, other):
                continue
            value = other.labels[rule.topology_key]
            domains[value] = domains.get(value, 0) + matching_pods(world, pod, other, selector)
        least = min(domains.values(), default=0)
        if len(domains) < rule.min_domains:
            least = 0
        here = domains.get(node.labels[rule.topology_key], 0)
        if here + selector_matches(selector, pod.labels) - least > rule.max_skew:
            return [("node(s) didn't match pod topology spread constraints", True)]
    return []


def effective_selector(rule: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    """The selector with the pod's own values of matchLabelKeys."""
    if rule.selector is None:
        return None
    own = [Requirement(key, "In", (pod.labels[key],)) for key in rule.match_label_keys if key in pod.labels]
    return LabelSelector((*rule.selector.requirements, *own))


def policies_pass(rule: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    """Whether a node counts for a constraint."""
    if rule.honors_node_affinity and not is_demanded(pod, node):
        return False
    return not rule.honors_node_taints or all(is_tolerated(pod, taint) for taint in hard_taints(node))


def matching_pods(world: World, pod: Pod, node: Node, selector: LabelSelector | None) -> int:
    """Pods of a node that a constraint counts; an empty selector counts none."""
    if selector is None or not selector.requirements:
        return 0
    return sum(
        other.namespace == pod.namespace
        and other.deletion_at is None
        and all(rule_holds(rule, other.labels) for rule in selector.requirements)
        for other in world.on(node)
    )


def inter_pod_affinity(world: World, pod: Pod, node: Node) -> Refusals:
    """Affinity, own anti-affinity, others' anti-affinity; the first that fails speaks."""
    if pod.spec.affinity and not _is_near(world, pod, node):
        return [("node(s) didn't match pod affinity rules", False)]
    for term in pod.spec.anti_affinity:
        for other, where in world.standing:
            if term_selects(world, term, pod, other) and share_domain(term.topology_key, node, where):
                return [("node(s) didn't match pod anti-affinity rules", True)]
    for other, where in world.standing:
        for term in other.spec.anti_affinity:
            if term_selects(world, term, other, pod) and share_domain(term.topology_key, node, where):
                return [("node(s) didn't satisfy existing pods anti-affinity rules", True)]
    return []


def _is_near(world: World, pod: Pod, node: Node) -> bool:
    terms = pod.spec.affinity
    if not all(term.topology_key in node.labels for term in terms):
        return False
    friends = [where for other, where in world.standing if all(term_selects(world, term, pod, other) for term in terms)]
    if all(any(share_domain(term.topology_key, node, where) for where in friends) for term in terms):
        return True
    nobody = not any(term.topology_key in where.labels for term in terms for where in friends)
    return nobody and all(term_selects(world, term, pod, pod) for term in terms)


PLAIN_FILTERS: dict[str, Callable[[World, Pod, Node], Refusals]] = {
    "NodeUnschedulable": node_unschedulable,
    "TaintToleration": taint_toleration,
    "NodeAffinity": node_affinity,
    "NodePorts": node_ports,
    "NodeResourcesFit": node_resources_fit,
    "PodTopologySpread": pod_topology_spread,
    "InterPodAffinity": inter_pod_affinity,
}
