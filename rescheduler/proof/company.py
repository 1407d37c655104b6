"""Counts pods that stand without the company that their required affinity asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from rescheduler.model.constraints import PodAffinityTerm
from rescheduler.model.node import Node
from rescheduler.model.pod import Pod
from rescheduler.proof.population import Population
from rescheduler.proof.repelled import by_domain
from rescheduler.proof.standing import Standing
from rescheduler.proof.term_scope import looks_into, picks
from rescheduler.proof.world import World


def without_company(standing: Standing, population: Population, world: World) -> int:
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


def _partners(pod: Pod, population: Population, world: World) -> Mapping[str, int]:
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
