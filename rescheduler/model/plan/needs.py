"""What each move of a plan needs done before it may start: derived from the plan and its snapshot alone.

A wave that has ended is proven to leave room for the next. Most moves of a wave have nothing to do with most of the
one before, so they need not wait for it. A move needs each move of an earlier wave that leaves the node it goes to, or
that shares something with it which counts pods: a workload, a budget, a term of affinity, anti-affinity or spread that
one of the plan's pods has, a claim. Waves whose pods leave before they arrive wait for all, and all wait for them.

Why every order that keeps to this is possible: what is asked of a node's room only gets easier as others leave it and
have not come yet. Of those that have come to a node, take one of the latest wave: whoever left that node in an earlier
wave has left, since it was needed, and nobody has come who was not counted when that wave was proven. What counts pods
meets them in the order of waves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move

CLAIM_KINDS = frozenset({"PersistentVolumeClaim", "Ephemeral"})
"""Volumes for which a scheduler chooses, so that one pod's choice may be in another's way."""

Needs = tuple[frozenset[int], ...]
"""For each move, by its place in the list, the places of those that it needs."""


def needs_of(moves: Sequence[Move], cluster: Cluster) -> Needs:
    """What each of these moves needs of the others; pods that are gone share nothing any more."""
    pods = [cluster.pod_by_key.get(move.pod.key) for move in moves]
    leaving: dict[str, list[int]] = defaultdict(list)
    sharing: dict[Hashable, list[int]] = defaultdict(list)
    terms = dict.fromkeys(term for pod in pods if pod is not None for term in _terms(pod))
    covering = _covering([pod for pod in pods if pod is not None], cluster)
    shared = [[] if pod is None else list(_shared(pod, terms, covering, cluster)) for pod in pods]
    for index, move in enumerate(moves):
        leaving[move.from_node].append(index)
        for what in shared[index]:
            sharing[what].append(index)
    barriers = [index for index, move in enumerate(moves) if move.evict_first]
    found = []
    for index, move in enumerate(moves):
        others = set(range(len(moves)) if move.evict_first else barriers).union(leaving.get(move.to_node, ()))
        others.update(*(sharing[what] for what in shared[index]))
        found.append(frozenset(other for other in others if moves[other].wave < move.wave))
    return tuple(found)


def ranks_of(needs: Needs) -> tuple[int, ...]:
    """How many moves rest on each, directly or by others."""
    resting: list[set[int]] = [set() for _ in needs]
    dependents: list[list[int]] = [[] for _ in needs]
    for index, needed in enumerate(needs):
        for other in needed:
            dependents[other].append(index)
    order = _last_first(dependents)
    for index in order:
        for other in dependents[index]:
            resting[index] |= {other, *resting[other]}
    return tuple(len(found) for found in resting)


def _last_first(dependents: Sequence[Sequence[int]]) -> Iterator[int]:
    """Each after all that depend on it; an earlier wave never depends on a later one, so there are no circles."""
    left = [len(found) for found in dependents]
    needed: list[list[int]] = [[] for _ in dependents]
    for index, found in enumerate(dependents):
        for other in found:
            needed[other].append(index)
    waiting = [index for index, number in enumerate(left) if not number]
    while waiting:
        index = waiting.pop()
        yield index
        for other in needed[index]:
            left[other] -= 1
            if not left[other]:
                waiting.append(other)


def _covering(pods: Sequence[Pod], cluster: Cluster) -> Mapping[str, Sequence[str]]:
    """Names of the budgets that cover each of these pods, by its key; few are compared with each."""
    labelled: dict[tuple[str, str, str], list[Pod]] = defaultdict(list)
    of_namespace: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        of_namespace[pod.namespace].append(pod)
        for label, value in pod.labels.items():
            labelled[pod.namespace, label, value].append(pod)
    found: dict[str, list[str]] = defaultdict(list)
    for budget in chain.from_iterable(cluster.budgets_by_namespace.get(name, ()) for name in of_namespace):
        rules = () if budget.selector is None else budget.selector.requirements
        asked = next((rule for rule in rules if rule.operator == "In"), None)
        near = [of_namespace[budget.namespace]]
        if asked is not None:
            values = dict.fromkeys(asked.values)
            near = [labelled.get((budget.namespace, asked.key, value), []) for value in values]
        for pod in chain.from_iterable(near):
            if selects(budget.selector, pod.labels):
                found[pod.key].append(budget.name)
    return found


def _shared(
    pod: Pod, terms: Iterable[LabelSelector], covering: Mapping[str, Sequence[str]], cluster: Cluster
) -> Iterator[Hashable]:
    """What counts this pod together with others of the plan; ``terms``: of all of its pods."""
    workload = cluster.workload_of(pod)
    if workload is not None:
        yield "workload", workload.uid
    if pod.controller is not None:
        yield "owner", pod.controller.uid
    for name in covering.get(pod.key, ()):
        yield "budget", pod.namespace, name
    if any(volume.kind in CLAIM_KINDS for volume in pod.volumes):
        yield ("claims",)
    own = _terms(pod)
    for selector in terms:
        if selector in own or selects(selector, pod.labels):
            yield "term", selector


def _terms(pod: Pod) -> tuple[LabelSelector, ...]:
    """Selectors by which a pod looks at others, whatever their namespace; one that is absent picks nobody."""
    spec = pod.spec
    selectors = [term.selector for term in (*spec.affinity, *spec.anti_affinity)]
    selectors += [item.selector for item in spec.topology_spread]
    return tuple(selector for selector in selectors if selector is not None)
