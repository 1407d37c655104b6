"""Pods that stand somewhere, by kind, with a register of labels so that a selector need not look at every kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from rescheduler.checker.selectors import label_selector_matches
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan

# Where pods stand once a plan is carried out.

Standing: TypeAlias = list[tuple[Pod, Node]]


def places_after(cluster: Cluster, plan: Plan) -> Iterator[tuple[Pod, str | None]]:
    """Every pod with the name of the node where it then is; None: it waits for one."""
    targets = {move.pod.key: move.to_node for move in plan.moves}
    targets |= {placement.pod.key: placement.node for placement in plan.placements}
    name_of = {index: targets[key] for key, index in cluster.indices_of(targets).items()}
    for index, pod in enumerate(cluster.pods):
        yield pod, name_of.get(index, pod.node_name)


def standing_after(cluster: Cluster, plan: Plan) -> Standing:
    """Each pod that stays, with its node; finished and terminating pods, and those on unknown nodes, are left out."""
    nodes = cluster.node_by_name
    found: Standing = []
    for pod, name in places_after(cluster, plan):
        node = None if name is None else nodes.get(name)
        if node is not None and pod.is_active:
            found.append((pod, node))
    return found


class FinalKind(NamedTuple):
    """Pods of one namespace with equal labels and required anti-affinity; ``example`` is one of them."""

    number: int
    namespace: str
    labels: Mapping[str, str]
    repels: tuple[PodAffinityTerm, ...]
    example: Pod


class FinalPopulation:
    """Kinds of pods; ``on_nodes`` counts for each kind, by its number, the pods that stand on each node."""

    def __init__(self, pods: Iterable[Pod], standing: Standing) -> None:
        """``pods``: all that there are, terminating ones left out; ``standing``: those on nodes, with their nodes."""
        self.kinds: list[FinalKind] = []
        self._number_of: dict[tuple[str, frozenset[tuple[str, str]], tuple[PodAffinityTerm, ...]], int] = {}
        self._by_label: dict[tuple[str, str], list[FinalKind]] = defaultdict(list)
        self.on_nodes: list[dict[str, int]] = []
        self._met: dict[tuple[str, int, int], tuple[int, Pod]] = {}
        for pod in pods:
            self._enrol(pod)
        for pod, node in standing:
            self.on_nodes[self._enrol(pod)][node.name] += 1

    def picked(self, selector: LabelSelector | None, looks_into: Callable[[str], bool]) -> list[FinalKind]:
        """Kinds that a selector picks in the namespaces that it looks into."""
        if selector is None:
            return []
        return [
            kind
            for kind in self._candidates(selector)
            if looks_into(kind.namespace) and label_selector_matches(selector, kind.labels)
        ]

    def standing(self, kinds: Iterable[FinalKind]) -> Counter[str]:
        """Pods of some kinds by node."""
        total: Counter[str] = Counter()
        for kind in kinds:
            total.update(self.on_nodes[kind.number])
        return total

    def _candidates(self, selector: LabelSelector) -> list[FinalKind]:
        for rule in selector.requirements:
            if rule.operator == "In":
                return [kind for value in dict.fromkeys(rule.values) for kind in self._by_label[rule.key, value]]
        return self.kinds

    def _enrol(self, pod: Pod) -> int:
        """The kind of a pod; those that share labels and terms as one object are told apart by identity alone."""
        identity = (pod.namespace, id(pod.labels), id(pod.spec.anti_affinity))
        met = self._met.get(identity)
        if met is None:
            met = self._met[identity] = (self._number(pod), pod)  # which keeps the pod, and so the ids their own
        return met[0]

    def _number(self, pod: Pod) -> int:
        key = (pod.namespace, frozenset(pod.labels.items()), pod.spec.anti_affinity)
        if key not in self._number_of:
            kind = FinalKind(len(self.kinds), pod.namespace, pod.labels, pod.spec.anti_affinity, pod)
            self._number_of[key] = kind.number
            self.kinds.append(kind)
            self.on_nodes.append(defaultdict(int))
            for label in pod.labels.items():
                self._by_label[label].append(kind)
        return self._number_of[key]
