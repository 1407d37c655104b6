"""Counts pods that stand without the company that their required affinity asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial

from rescheduler.checker.recounts.final_positions import FinalPopulation, Standing
from rescheduler.checker.selectors import label_selector_matches
from rescheduler.checker.world import World
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod

# Which pods an affinity term selects.


def picks(term: PodAffinityTerm, own: str, pod: Pod, world: World) -> bool:
    """Whether a term of a pod in namespace ``own`` selects a pod."""
    return label_selector_matches(term.selector, pod.labels) and looks_into(term, own, pod.namespace, world)


def looks_into(term: PodAffinityTerm, own: str, namespace: str, world: World) -> bool:
    """Whether a term of a pod in namespace ``own`` looks into a namespace; without any named, into its own alone."""
    if not term.namespaces and term.namespace_selector is None:
        return namespace == own
    labels = world.namespace_labels(namespace)
    return namespace in term.namespaces or label_selector_matches(term.namespace_selector, labels)


# Counts pairs of pods that required anti-affinity should have kept apart.


def repelled_pairs(population: FinalPopulation, world: World) -> int:
    """Pairs of pods in one domain of which one repels the other, once for each topology key."""
    pairs: set[tuple[str, int, int]] = set()
    for kind in population.kinds:
        for term in kind.repels if population.on_nodes[kind.number] else ():
            into = partial(looks_into, term, kind.namespace, world=world)
            for other in population.picked(term.selector, into):
                pairs.add((term.topology_key, min(kind.number, other.number), max(kind.number, other.number)))
    domains: dict[tuple[str, int], Counter[str]] = {}
    total = 0
    for key, first, second in pairs:
        for end in (first, second):
            if (key, end) not in domains:
                domains[key, end] = by_domain(population.on_nodes[end], key, world)
        mine, theirs = domains[key, first], domains[key, second]
        if first == second:
            total += sum(number * (number - 1) // 2 for number in mine.values())
        else:
            total += sum(number * theirs[domain] for domain, number in mine.items() if domain in theirs)
    return total


def by_domain(on_nodes: Mapping[str, int], key: str, world: World) -> Counter[str]:
    """Pods by domain of a topology key; those on nodes without one are left out."""
    found: Counter[str] = Counter()
    for name, number in on_nodes.items():
        node = world.node(name)
        if node is not None and key in node.labels:
            found[node.labels[key]] += number
    return found


def without_company(standing: Standing, population: FinalPopulation, world: World) -> int:
    """Pods that stand without the company that their required affinity asks for."""
    near: dict[Hashable, tuple[Mapping[str, int], dict[str, Counter[str]]]] = {}
    total = 0
    for pod, node in standing:
        terms = pod.spec.affinity
        if not terms:
            continue
        key = (pod.namespace, terms)
        if key not in near:
            partners = _partners(pod, population, world)
            near[key] = (
                partners,
                {term.topology_key: by_domain(partners, term.topology_key, world) for term in terms},
            )
        partners, domains = near[key]
        own = all(picks(term, pod.namespace, pod, world) for term in terms)
        total += _lacks(terms, node, own, partners, domains, world)
    return total


def _lacks(
    terms: Sequence[PodAffinityTerm],
    node: Node,
    own: bool,
    partners: Mapping[str, int],
    domains: Mapping[str, Counter[str]],
    world: World,
) -> bool:
    keys = [term.topology_key for term in terms]
    if any(key not in node.labels for key in keys):
        return True
    if all(domains[key][node.labels[key]] > own for key in keys):
        return False
    reached = sum(n for name, n in partners.items() if _has_some(world.node(name), keys))
    return not (own and reached == 1)


def _partners(pod: Pod, population: FinalPopulation, world: World) -> Mapping[str, int]:
    """Pods by node that match all affinity terms of a pod."""
    first, *others = pod.spec.affinity
    found = [
        kind
        for kind in population.picked(first.selector, lambda name: looks_into(first, pod.namespace, name, world))
        if all(picks(term, pod.namespace, kind.example, world) for term in others)
    ]
    return population.standing(found)


def _has_some(node: Node | None, keys: Sequence[str]) -> bool:
    return node is not None and any(key in node.labels for key in keys)
