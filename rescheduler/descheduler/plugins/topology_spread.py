"""Pods whose departure brings a topology spread constraint within its skew, constraint by constraint."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import field_validator

from rescheduler.descheduler.arguments import (
    PodArguments,
)
from rescheduler.descheduler.cycle import PluginTurn, Reply
from rescheduler.descheduler.fitting import tolerates_hard
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.constraints import (
    LabelSelector,
    NodeSelectorTerm,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod


class TopologySpreadArguments(PodArguments):
    """Evict pods until each spread constraint is kept."""

    constraints: tuple[Literal["DoNotSchedule", "ScheduleAnyway"], ...] = ("DoNotSchedule",)
    topology_balance_node_fit: bool = True

    @field_validator("constraints")
    @classmethod
    def _has_default(cls, constraints: tuple[str, ...]) -> tuple[str, ...]:
        return constraints or ("DoNotSchedule",)


class _Constraint(NamedTuple):
    """What makes two pods' constraints one: all that decides over domains and who counts in them."""

    max_skew: int
    topology_key: str
    selector: LabelSelector | None
    node_selector: tuple[tuple[str, str], ...]
    required: tuple[NodeSelectorTerm, ...] | None
    tolerations: tuple[Toleration, ...] | None
    honors_node_affinity: bool


class _Domain(NamedTuple):
    """Nodes of one value of the topology key, and the pods on them, those that leave first at the end."""

    value: str
    nodes: list[Node]
    pods: list[Pod]


def balance_topology_spread(step: PluginTurn, arguments: TopologySpreadArguments) -> str:
    """Victims of all constraints together are evicted once; ``minDomains`` is not looked at."""
    victims: dict[str, tuple[Pod, str]] = {}
    for pods in _evictable_by_namespace(step, arguments):
        for constraint, example in _constraints(pods, arguments).items():
            for pod in _victims_of(step, constraint, example, pods, arguments):
                victims.setdefault(pod.key, (pod, f"{constraint.topology_key}: more than {constraint.max_skew} apart"))
    full: set[str] = set()
    for pod, reason in victims.values():
        node = pod.node_name or ""
        if node in full or not step.evictor.allows(pod):
            continue
        answer = step.evict(pod, reason)
        if answer is Reply.TOTAL_LIMIT:
            break
        if answer is Reply.NODE_LIMIT:
            full.add(node)
    return ""


def _evictable_by_namespace(step: PluginTurn, arguments: TopologySpreadArguments) -> list[list[Pod]]:
    selector = None if arguments.label_selector is None else arguments.label_selector.read()
    found: dict[str, list[Pod]] = defaultdict(list)
    for node in step.nodes:
        for pod in step.pods_on(node):
            is_wanted = arguments.namespaces.let_in(pod.namespace) and (
                selector is None or selects(selector, pod.labels)
            )
            if is_wanted and step.evictor.is_evictable(pod):
                found[pod.namespace].append(pod)
    return [found[name] for name in sorted(found)]


def _constraints(pods: Sequence[Pod], arguments: TopologySpreadArguments) -> dict[_Constraint, Pod]:
    """Distinct constraints in the order in which they are met, each with a pod that has it."""
    found: dict[_Constraint, Pod] = {}
    for pod in pods:
        for rule in pod.spec.topology_spread:
            if rule.when_unsatisfiable in arguments.constraints:
                found.setdefault(_constraint_of(pod, rule), pod)
    return found


def _constraint_of(pod: Pod, rule: TopologySpreadConstraint) -> _Constraint:
    rules, selector = pod.spec.node_affinity, rule.selector
    given = [key for key in rule.match_label_keys if key in pod.labels]
    if selector is not None and given:
        further = (Requirement(key, "In", (pod.labels[key],)) for key in given)
        selector = LabelSelector((*selector.requirements, *further))
    honors = rule.honors_node_affinity
    return _Constraint(
        max_skew=rule.max_skew,
        topology_key=rule.topology_key,
        selector=selector,
        node_selector=pod.spec.node_selector if honors else (),
        required=rules.required if honors and rules is not None else None,
        tolerations=pod.spec.tolerations if rule.honors_node_taints else None,
        honors_node_affinity=honors,
    )


def _victims_of(
    step: PluginTurn, constraint: _Constraint, example: Pod, pods: Sequence[Pod], arguments: TopologySpreadArguments
) -> Iterator[Pod]:
    domains = _domains(step, constraint, example, pods)
    sizes = [len(domain.pods) for domain in domains]
    if not sizes or max(sizes) - min(sizes) <= constraint.max_skew:
        return
    ideal = sum(sizes) / len(sizes)
    below = [node for domain in domains if len(domain.pods) < ideal for node in domain.nodes]
    for domain in domains:
        domain.pods.sort(key=lambda pod: _staying(step, pod))
    domains.sort(key=lambda domain: (len(domain.pods), domain.value))
    low, high = 0, len(domains) - 1
    while low < high:
        if len(domains[high].pods) <= ideal:
            high -= 1
        source, target = domains[high], domains[low]
        skew = len(source.pods) - len(target.pods)
        count = min(
            math.ceil(len(source.pods) - ideal),
            math.ceil(ideal - len(target.pods)),
            math.ceil((skew - constraint.max_skew) / 2),
        )
        if skew <= constraint.max_skew or count <= 0:
            low += 1
            continue
        fits = {pod.key: step.fitting.fits_another(pod, below) for pod in source.pods}
        source.pods.sort(key=lambda pod: fits[pod.key])
        moved = source.pods[-count:]
        del source.pods[-count:]
        target.pods.extend(moved)
        yield from (pod for pod in moved if fits[pod.key] or not arguments.topology_balance_node_fit)


def _staying(step: PluginTurn, pod: Pod) -> tuple[bool, int]:
    """Those that are bound to nodes first, then the lowest priority: against upstream's own comment the highest go."""
    is_bound = bool(pod.spec.node_selector) or pod.spec.node_affinity is not None
    priority = step.evictor.priority_of(pod)
    return not is_bound, -(2**31) - 1 if priority is None else priority


def _domains(step: PluginTurn, constraint: _Constraint, example: Pod, pods: Sequence[Pod]) -> list[_Domain]:
    """By the label of eligible nodes; pods on other nodes add theirs."""
    found: dict[str, _Domain] = {}
    labels = {node.name: node for node in step.nodes}
    for node in step.nodes:
        value = node.labels.get(constraint.topology_key)
        if value is not None and _is_eligible(step, constraint, example, node):
            found.setdefault(value, _Domain(value, [], [])).nodes.append(node)
    for pod in pods:
        value = labels[pod.node_name or ""].labels.get(constraint.topology_key)
        if value is not None and selects(constraint.selector, pod.labels):
            found.setdefault(value, _Domain(value, [], [])).pods.append(pod)
    return list(found.values())


def _is_eligible(step: PluginTurn, constraint: _Constraint, example: Pod, node: Node) -> bool:
    if constraint.honors_node_affinity and not step.fitting.matches(example, node):
        return False
    return constraint.tolerations is None or tolerates_hard(constraint.tolerations, node.taints)
