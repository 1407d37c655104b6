"""kube-scheduler's scores, node by node, in whole numbers and Python's own floats."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log, sqrt

from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from tests.unit.scheduling.filters.plain_filters import effective_selector, matching_pods, policies_pass
from tests.unit.scheduling.plain_world import World, is_tolerated, node_term_matches, share_domain, term_selects

HOSTNAME = "kubernetes.io/hostname"
Points = list[int]
"""One score for each of the feasible nodes."""


def by_largest(raw: Points, *, is_reversed: bool = False) -> Points:
    """The scheduler's usual normalisation."""
    largest = max(raw, default=0)
    if largest == 0:
        return [100 for _ in raw] if is_reversed else raw
    return [100 - 100 * value // largest if is_reversed else 100 * value // largest for value in raw]


def taint_toleration(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """PreferNoSchedule taints."""
    soft = [[taint for taint in node.taints if taint.effect == "PreferNoSchedule"] for node in nodes]
    return by_largest([sum(not is_tolerated(pod, taint) for taint in taints) for taints in soft], is_reversed=True)


def node_affinity(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """Preferred node terms."""
    wishes = pod.spec.node_affinity.preferred if pod.spec.node_affinity else ()
    return by_largest([sum(w.weight for w in wishes if node_term_matches(w.term, node)) for node in nodes])


def _used(world: World, node: Node, resource: str, *, has_defaults: bool) -> int:
    total = 0
    for other in world.on(node):
        requests = dict(other.spec.requests)
        held = dict(other.held) if other.held is not None and other.node_name == node.name else requests
        total += held.get(resource, 0)
        if has_defaults:
            total += dict(other.spec.scored_requests).get(resource, 0) - requests.get(resource, 0)
    return total


def least_allocated(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """NodeResourcesFit with its default strategy."""
    return [_least_allocated(world, pod, node) for node in nodes]


def _least_allocated(world: World, pod: Pod, node: Node) -> int:
    points = []
    for resource in ("cpu", "memory"):
        offered = dict(node.allocatable).get(resource, 0)
        if offered == 0:
            continue
        used = _used(world, node, resource, has_defaults=True) + dict(pod.spec.scored_requests).get(resource, 0)
        points.append(0 if used > offered else (offered - used) * 100 // offered)
    return sum(points) // len(points) if points else 0


def balanced_allocation(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """NodeResourcesBalancedAllocation of 1.36."""
    if not any(amount for name, amount in pod.spec.requests if name in ("cpu", "memory")):
        return [0 for _ in nodes]
    points = []
    for node in nodes:
        with_pod, without_pod = (_balance(world, pod, node, share) for share in (1, 0))
        points.append(50 + int((50 + with_pod - without_pod) / 2))
    return points


def _balance(world: World, pod: Pod, node: Node, share: int) -> int:
    fractions = []
    for resource in ("cpu", "memory"):
        offered = dict(node.allocatable).get(resource, 0)
        if offered:
            used = _used(world, node, resource, has_defaults=False) + share * dict(pod.spec.requests).get(resource, 0)
            fractions.append(min(1.0, used / offered))
    if len(fractions) == 2:
        return int((1 - abs((fractions[0] - fractions[1]) / 2)) * 100)
    mean = sum(fractions) / max(1, len(fractions))
    return int((1 - sqrt(sum((f - mean) ** 2 for f in fractions) / max(1, len(fractions)))) * 100)


def inter_pod_affinity(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """Wishes about other pods and of other pods."""
    raw = [sum(_attraction(world, pod, node, other, where) for other, where in world.standing) for node in nodes]
    least, largest = min(raw, default=0), max(raw, default=0)
    return [0 if largest == least else int(100 * ((value - least) / (largest - least))) for value in raw]


def _attraction(world: World, pod: Pod, node: Node, other: Pod, where: Node) -> int:
    total = 0
    for sign, wishes in ((1, pod.spec.preferred_affinity), (-1, pod.spec.preferred_anti_affinity)):
        for wish in wishes:
            if term_selects(world, wish.term, pod, other) and share_domain(wish.term.topology_key, node, where):
                total += sign * wish.weight
    theirs = [(1, term) for term in other.spec.affinity]
    theirs += [(wish.weight, wish.term) for wish in other.spec.preferred_affinity]
    theirs += [(-wish.weight, wish.term) for wish in other.spec.preferred_anti_affinity]
    for weight, term in theirs:
        if term_selects(world, term, other, pod) and share_domain(term.topology_key, node, where):
            total += weight
    return total


def pod_topology_spread(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """ScheduleAnyway constraints, or the built-in ones over what the pod's Services select."""
    rules = [rule for rule in pod.spec.topology_spread if rule.when_unsatisfiable == "ScheduleAnyway"]
    is_default = not pod.spec.topology_spread
    if is_default:
        rules = default_rules(world, pod)
    if not rules:
        return [0 for _ in nodes]

    def has_keys(node: Node) -> bool:
        return is_default or all(rule.topology_key in node.labels for rule in rules)

    scored = [node for node in nodes if has_keys(node)]
    raw = {}
    for node in scored:
        value = 0.0
        for rule in rules:
            if rule.topology_key in node.labels:
                value += _weighed_count(world, pod, rule, node, scored, has_keys) + (rule.max_skew - 1)
        raw[node.name] = floor(value + 0.5)
    least, largest = min(raw.values(), default=0), max(raw.values(), default=0)
    spread = {name: 100 if largest == 0 else 100 * (largest + least - value) // largest for name, value in raw.items()}
    return [spread.get(node.name, 0) for node in nodes]


def default_rules(world: World, pod: Pod) -> list[TopologySpreadConstraint]:
    """The built-in constraints, if a Service selects the pod."""
    pairs: dict[str, str] = {}
    for service in world.cluster.services:
        if service.namespace == pod.namespace and service.selector.items() <= dict(pod.labels).items():
            pairs.update(service.selector)
    if not pairs:
        return []
    selector = LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in pairs.items()))
    return [
        TopologySpreadConstraint(HOSTNAME, 3, "ScheduleAnyway", selector),
        TopologySpreadConstraint("topology.kubernetes.io/zone", 5, "ScheduleAnyway", selector),
    ]


def _weighed_count(
    world: World,
    pod: Pod,
    rule: TopologySpreadConstraint,
    node: Node,
    scored: list[Node],
    has_keys: Callable[[Node], bool],
) -> float:
    selector = effective_selector(rule, pod)
    if rule.topology_key == HOSTNAME:
        return matching_pods(world, pod, node, selector) * log(len(scored) + 2)
    domains = {other.labels.get(rule.topology_key, "") for other in scored}
    count = sum(
        matching_pods(world, pod, other, selector)
        for other in world.cluster.nodes
        if has_keys(other)
        and policies_pass(rule, pod, other)
        and other.labels.get(rule.topology_key, "") == node.labels[rule.topology_key]
    )
    return count * log(len(domains) + 2)


def image_locality(world: World, pod: Pod, nodes: list[Node]) -> Points:
    """Images that the nodes hold already."""
    every = world.cluster.nodes
    points = []
    for node in nodes:
        total = 0
        for image in pod.spec.images:
            name = image if ":" in image else f"{image}:latest"
            size = next((dict(other.images)[name] for other in every if name in dict(other.images)), 0)
            if name in dict(node.images):
                total += int(size * (sum(name in dict(other.images) for other in every) / len(every)))
        least, most = 23 << 20, (1000 << 20) * pod.spec.container_count
        points.append(100 * (min(max(total, least), most) - least) // (most - least))
    return points


PLAIN_SCORES: dict[str, Callable[[World, Pod, list[Node]], Points]] = {
    "TaintToleration": taint_toleration,
    "NodeAffinity": node_affinity,
    "NodeResourcesFit": least_allocated,
    "NodeResourcesBalancedAllocation": balanced_allocation,
    "InterPodAffinity": inter_pod_affinity,
    "PodTopologySpread": pod_topology_spread,
    "ImageLocality": image_locality,
}
WEIGHTS = {"TaintToleration": 3, "NodeAffinity": 2, "PodTopologySpread": 2, "InterPodAffinity": 2}
