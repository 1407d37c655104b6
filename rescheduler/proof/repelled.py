"""Counts pairs of pods that required anti-affinity should have kept apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from rescheduler.proof.population import Population
from rescheduler.proof.term_scope import looks_into
from rescheduler.proof.world import World


def repelled_pairs(population: Population, world: World) -> int:
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
