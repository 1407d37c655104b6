"""The rules of arrivals once more, by brute force over every order of a wave: only for tiny clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations
from typing import NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan

Sitting = tuple[Pod, Node]


class Misfits(NamedTuple):
    """Pods that cannot move in some order of their wave; waves whose placements fit in no order, and not as listed."""

    stuck: set[str]
    unplaceable: set[int]
    misordered: set[int]


def misfits(cluster: Cluster, plan: Plan) -> Misfits:
    """What does not fit where and when the plan says."""
    nodes = {node.name: node for node in cluster.nodes}
    pods = {pod.key: pod for pod in cluster.pods}
    sitting: list[Sitting] = [(pod, nodes[pod.node_name]) for pod in cluster.pods if pod.node_name in nodes]
    found = Misfits(set(), set(), set())
    for wave in range(4):
        moved = [(pods[move.pod.key], nodes[move.to_node]) for move in plan.moves if move.wave == wave]
        for pod, node in moved:
            before = [item for item in sitting if item[0].key != pod.key]
            others = [item for item in moved if item[0].key != pod.key]
            if not all(fits(pod, node, [*before, *some], cluster.nodes) for some in subsets(others)):
                found.stuck.add(pod.key)
        leaving = {pod.key for pod, _ in moved}
        sitting = [item for item in sitting if item[0].key not in leaving] + moved
        placed = [(pods[item.pod.key], nodes[item.node]) for item in plan.placements if item.wave == wave]
        if not any(come_in_turn(order, sitting, cluster.nodes) for order in permutations(placed)):
            found.unplaceable.add(wave)
        if not come_in_turn(placed, sitting, cluster.nodes):
            found.misordered.add(wave)
        sitting += placed
    return found


def come_in_turn(order: Iterable[Sitting], sitting: list[Sitting], nodes: Iterable[Node]) -> bool:
    """Each fits beside those that came before it."""
    present = list(sitting)
    for pod, node in order:
        if not fits(pod, node, present, nodes):
            return False
        present.append((pod, node))
    return True


def subsets(items: list[Sitting]) -> Iterator[tuple[Sitting, ...]]:
    """Every choice of those that may have come before."""
    for size in range(len(items) + 1):
        yield from combinations(items, size)


def fits(pod: Pod, node: Node, sitting: list[Sitting], nodes: Iterable[Node]) -> bool:
    """All rules of the templates in use: cpu, ports, affinity both ways, spread."""
    here = [other for other, place in sitting if place.name == node.name]
    cpu = sum(dict(other.spec.requests).get("cpu", 0) for other in [*here, pod])
    if dict(pod.spec.requests).get("cpu", 0) and cpu > dict(node.allocatable)["cpu"]:
        return False
    if {port.port for port in pod.spec.host_ports} & {port.port for other in here for port in other.spec.host_ports}:
        return False
    return keeps_apart(pod, node, sitting) and finds_friends(pod, node, sitting) and is_even(pod, node, sitting, nodes)


def keeps_apart(pod: Pod, node: Node, sitting: list[Sitting]) -> bool:
    """Anti-affinity of the pod and of the others."""
    for other, place in sitting:
        for term in pod.spec.anti_affinity:
            if picks(term.selector, other) and near(term, node, place):
                return False
        for term in other.spec.anti_affinity:
            if picks(term.selector, pod) and near(term, node, place):
                return False
    return True


def finds_friends(pod: Pod, node: Node, sitting: list[Sitting]) -> bool:
    """Affinity, with its exception for the first of a kind."""
    terms = pod.spec.affinity
    if not all(term.topology_key in node.labels for term in terms):
        return False
    friends = [place for other, place in sitting if all(picks(term.selector, other) for term in terms)]
    if all(any(near(term, node, place) for place in friends) for term in terms):
        return True
    lonely = not any(term.topology_key in place.labels for place in friends for term in terms)
    return lonely and all(picks(term.selector, pod) for term in terms)


def is_even(pod: Pod, node: Node, sitting: list[Sitting], nodes: Iterable[Node]) -> bool:
    """Topology spread without policies."""
    keys = [constraint.topology_key for constraint in pod.spec.topology_spread]
    if not all(key in node.labels for key in keys):
        return False
    counted = [item for item in nodes if all(key in item.labels for key in keys)]
    for constraint in pod.spec.topology_spread:
        key = constraint.topology_key
        counts = {item.labels[key]: 0 for item in counted}
        for other, place in sitting:
            if not other.is_terminating and place in counted and picks(constraint.selector, other):
                counts[place.labels[key]] += 1
        least = min(counts.values()) if len(counts) >= constraint.min_domains else 0
        if counts[node.labels[key]] + picks(constraint.selector, pod) - least > constraint.max_skew:
            return False
    return True


def picks(selector: LabelSelector | None, pod: Pod) -> bool:
    """Selectors of these tests have In rules only."""
    assert selector is not None
    return all(pod.labels.get(rule.key) in rule.values for rule in selector.requirements)


def near(term: PodAffinityTerm, one: Node, other: Node) -> bool:
    """Both in one domain."""
    value = one.labels.get(term.topology_key)
    return value is not None and other.labels.get(term.topology_key) == value
