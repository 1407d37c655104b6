"""Required affinity and anti-affinity between pods, in both directions."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.checker.selectors import label_selector_matches
from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, Labels, Namespaces, World
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod

Terms = tuple[PodAffinityTerm, ...]


def anti_affinity(arrival: Arrival, others: Others, world: World) -> str | None:
    """No pod that the arriving one keeps away from may be in the domain, those that come in its wave included."""
    pod, node = arrival
    for term in pod.spec.anti_affinity:
        number = _matches_in_domain(arrival, world, (term,), term.topology_key)
        for other in others.picked(term.selector):
            if _picks((term,), pod.namespace, other.pod, world):
                number += _same_domain(other.node, node, term.topology_key)
        if number > 0:
            return f"a pod it must keep away from is in the same {term.topology_key}"
    return None


def anti_affinity_of_others(arrival: Arrival, others: Others, world: World) -> str | None:
    """No pod in the domain may keep away from the arriving one."""
    pod, node = arrival

    def looks_into(term: PodAffinityTerm, own: str, namespace: str) -> bool:
        return _looks_into(term, own, namespace, world)

    for holders, term in world.holders.looking_into(pod.namespace, pod.labels, looks_into):
        if term.topology_key in node.labels and label_selector_matches(term.selector, pod.labels):
            near = sum(_same_domain(world.node(name), node, term.topology_key) for name in holders.nodes)
            if (holders.namespace, holders.terms) == (pod.namespace, pod.spec.anti_affinity):
                near -= _same_domain(world.node(pod.node_name), node, term.topology_key)
            if near > 0:
                return f"a pod of namespace {holders.namespace} keeps away from it within one {term.topology_key}"
    for other in others.looking_at(pod.labels):
        for term in other.pod.spec.anti_affinity:
            if _picks((term,), other.pod.namespace, pod, world) and _same_domain(other.node, node, term.topology_key):
                return f"{other.pod.key} comes in the same wave and keeps away from it"
    return None


def affinity(arrival: Arrival, others: Others, world: World) -> str | None:
    """A pod that matches all terms must be in the domain of each, whoever else of the wave has come or not.

    The first of its kind may go anywhere: nothing matches in the whole cluster, and it matches its own terms.
    """
    pod, node = arrival
    terms = pod.spec.affinity
    for term in terms:
        if term.topology_key not in node.labels:
            return f"the node has no label {term.topology_key}, which the pod's affinity needs"
    if all(_matches_in_domain(arrival, world, terms, term.topology_key) > 0 for term in terms):
        return None
    if not _picks(terms, pod.namespace, pod, world) or _matches_anywhere(arrival, world, terms) > 0:
        return "no pod that its affinity asks for is in the same domain"
    for other in others.picked(
        *(term.selector for term in terms)
    ):  # it may be second: then the first must be where it needs one
        if _picks(terms, pod.namespace, other.pod, world) and not all(
            _same_domain(other.node, node, term.topology_key) for term in terms
        ):
            return f"if {other.pod.key} of the same wave comes first, its affinity asks for another domain"
    return None


def _matches_in_domain(arrival: Arrival, world: World, terms: Terms, topology_key: str) -> int:
    """Pods that match all the terms in the arrival's domain before the wave, its own old copy left out."""
    pod, node = arrival
    if topology_key not in node.labels:
        return 0
    found = sum(
        number
        for name, number in _matches(world, terms, pod.namespace).items()
        if number and _same_domain(world.node(name), node, topology_key)
    )
    is_own = _picks(terms, pod.namespace, pod, world) and _same_domain(world.node(pod.node_name), node, topology_key)
    return found - is_own


def _matches_anywhere(arrival: Arrival, world: World, terms: Terms) -> int:
    """Pods that match all the terms on any node with one of the topology keys, the own old copy left out."""
    pod = arrival.pod
    found = sum(
        number
        for name, number in _matches(world, terms, pod.namespace).items()
        if number and _has_some_key(world.node(name), terms)
    )
    return found - (_picks(terms, pod.namespace, pod, world) and _has_some_key(world.node(pod.node_name), terms))


def _matches(world: World, terms: Terms, own: str) -> Mapping[str, int]:
    """Pods by node that match all the terms of a pod in namespace ``own``."""
    scopes = [scope for scope in (_scope(term, own, world) for term in terms) if scope is not None]
    namespaces = frozenset.intersection(*scopes) if scopes else None

    def picks(labels: Labels) -> bool:
        return all(label_selector_matches(term.selector, labels) for term in terms)

    return world.count(("affinity", terms, own), namespaces, picks, [term.selector for term in terms])


def _picks(terms: Terms, own: str, pod: Pod, world: World) -> bool:
    """True if a pod matches all the terms of a pod in namespace ``own``."""
    return all(
        label_selector_matches(term.selector, pod.labels) and _looks_into(term, own, pod.namespace, world)
        for term in terms
    )


def _looks_into(term: PodAffinityTerm, own: str, namespace: str, world: World) -> bool:
    """Without names and without a selector a term looks at its own namespace alone."""
    if not term.namespaces and term.namespace_selector is None:
        return namespace == own
    return namespace in term.namespaces or label_selector_matches(
        term.namespace_selector, world.namespace_labels(namespace)
    )


def _scope(term: PodAffinityTerm, own: str, world: World) -> Namespaces:
    """Where the pods on nodes are that a term looks at: names of namespaces, or None for all."""
    if term.namespace_selector is None:
        return frozenset(term.namespaces or (own,))
    if not term.namespace_selector.requirements:
        return None
    selected = [name for name in world.namespaces if _looks_into(term, own, name, world)]
    return frozenset((*selected, *term.namespaces))


def _same_domain(one: Node | None, other: Node, topology_key: str) -> bool:
    if one is None or topology_key not in other.labels:
        return False
    return one.labels.get(topology_key) == other.labels[topology_key]


def _has_some_key(node: Node | None, terms: Terms) -> bool:
    return node is not None and any(term.topology_key in node.labels for term in terms)
