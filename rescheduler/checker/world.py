"""Who sits where while a plan is replayed: one wave's beginning, carried forward wave by wave."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import msgspec

from rescheduler.checker.selectors import telling_labels
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.scheduler_rules import ArrivalRules

# Pods on nodes with required anti-affinity, by their terms: they keep others away from their domains.


class Holders(NamedTuple):
    """Pods of one namespace with the same terms: the node of each."""

    namespace: str
    terms: tuple[PodAffinityTerm, ...]
    nodes: list[str]


class TermHolders:
    """Every group of pods with required anti-affinity."""

    def __init__(self, pods_by_node: Mapping[str, Sequence[Pod]]) -> None:
        """Sort the pods by namespace and terms."""
        self._groups: dict[tuple[str, tuple[PodAffinityTerm, ...]], Holders] = {}
        self._by_namespace: dict[str, dict[tuple[str, str] | None, list[tuple[Holders, PodAffinityTerm]]]] = {}
        met: dict[tuple[str, int], Holders] = {}
        for node, pods in pods_by_node.items():
            for pod in pods:
                terms = pod.spec.anti_affinity
                if terms:
                    key = (pod.namespace, id(terms))
                    holders = met.get(key)
                    if holders is None:
                        holders = met[key] = self._holders_of(pod)
                    holders.nodes.append(node)

    def add(self, pod: Pod, node: str, sign: int) -> None:
        """A pod comes (1) or goes (-1)."""
        if not pod.spec.anti_affinity:
            return
        nodes = self._holders_of(pod).nodes
        if sign > 0:
            nodes.append(node)
        else:
            nodes.remove(node)

    def looking_into(
        self, namespace: str, labels: Labels, looks_into: Callable[[PodAffinityTerm, str, str], bool]
    ) -> Iterator[tuple[Holders, PodAffinityTerm]]:
        """Terms, with those that hold them, which could look at a pod of a namespace with these labels, and some more.

        ``looks_into``: whether a term of a pod in the first namespace looks at pods of the second.
        """
        found = self._by_namespace.get(namespace)
        if found is None:
            found = self._by_namespace[namespace] = defaultdict(list)
            for holders in self._groups.values():
                for term in holders.terms:
                    if looks_into(term, holders.namespace, namespace):
                        told = telling_labels(term.selector)
                        for label in (None,) if told is None else told:
                            found[label].append((holders, term))
        for label in (None, *labels.items()):
            yield from found.get(label, ())

    def _holders_of(self, pod: Pod) -> Holders:
        key = (pod.namespace, pod.spec.anti_affinity)
        if key not in self._groups:
            self._groups[key] = Holders(*key, [])
            self._by_namespace.clear()
        return self._groups[key]


# Pods on nodes by namespace and labels, so that a selector is matched once for many pods.

Labels: TypeAlias = Mapping[str, str]
Namespaces: TypeAlias = frozenset[str] | None
"""Names of namespaces; None: all."""
Telling: TypeAlias = tuple[tuple[str, str], ...] | None
"""Labels of which each pod that is picked has one; None: nothing is told."""


class CheckedKind(NamedTuple):
    """Pods of one namespace with equal labels: the node of each, terminating ones apart."""

    labels: Labels
    standing: list[str]
    terminating: list[str]


class CheckedKinds:
    """Every kind of pod on the nodes."""

    def __init__(self, pods_by_node: Mapping[str, Sequence[Pod]]) -> None:
        """Sort the pods by kind; those that share one object as labels are told apart by identity alone."""
        self._kinds: dict[str, dict[Hashable, CheckedKind]] = defaultdict(dict)
        self._by_label: dict[tuple[str, str], dict[str, dict[Hashable, CheckedKind]]] = {}
        met: dict[tuple[str, int], CheckedKind] = {}
        for node, pods in pods_by_node.items():
            for pod in pods:
                key = (pod.namespace, id(pod.labels))
                kind = met.get(key)
                if kind is None:
                    kind = met[key] = self._kind_of(pod)
                if pod.deletion_at is None:
                    kind.standing.append(node)
                else:
                    kind.terminating.append(node)

    @property
    def namespaces(self) -> Iterable[str]:
        """Every namespace with pods on nodes."""
        return self._kinds.keys()

    def add(self, pod: Pod, node: str, sign: int) -> None:
        """A pod comes (1) or goes (-1)."""
        kind = self._kind_of(pod)
        nodes = kind.terminating if pod.is_terminating else kind.standing
        if sign > 0:
            nodes.append(node)
        else:
            nodes.remove(node)

    def count(
        self, namespaces: Namespaces, picks: Callable[[Labels], bool], telling: Telling, standing_only: bool
    ) -> Counter[str]:
        """Pods by node whose namespace and labels are picked; each has one of the ``telling`` labels."""
        total: Counter[str] = Counter()
        for namespace in self._kinds if namespaces is None else namespaces:
            for kind in self._told(namespace, telling):
                if picks(kind.labels):
                    total.update(kind.standing)
                    if not standing_only:
                        total.update(kind.terminating)
        return total

    def _told(self, namespace: str, telling: Telling) -> Iterable[CheckedKind]:
        kinds = self._kinds.get(namespace, {})
        if telling is None:
            return kinds.values()
        found: dict[Hashable, CheckedKind] = {}
        for key, value in telling:
            by_value = self._by_label.get((namespace, key))
            if by_value is None:
                by_value = self._by_label[namespace, key] = defaultdict(dict)
                for identity, kind in kinds.items():
                    if key in kind.labels:
                        by_value[kind.labels[key]][identity] = kind
            found |= by_value.get(value, {})
        return found.values()

    def _kind_of(self, pod: Pod) -> CheckedKind:
        kinds, identity = self._kinds[pod.namespace], frozenset(pod.labels.items())
        kind = kinds.get(identity)
        if kind is None:
            kind = kinds[identity] = CheckedKind(pod.labels, [], [])
            self._by_label.clear()
        return kind


class Arrival(NamedTuple):
    """A pod about to come to a node. ``pod`` stands as it did before: its own old copy is on ``pod.node_name``."""

    pod: Pod
    node: Node


class World:
    """The state at the beginning of a wave: every pod that holds room, moved ones where the waves before put them."""

    def __init__(self, cluster: Cluster, rules: ArrivalRules | None = None) -> None:
        """Begin with the snapshot; indices are made when a predicate first asks for them.

        ``rules``: what schedulers demand of nodes; by default all that kube-scheduler's own filters do.
        """
        self.cluster = cluster
        self.rules = rules or ArrivalRules()
        self.reserved_volumes: set[str] = set()  # static volumes that pods which arrived will take
        self.kept: dict[Hashable, Mapping[str, str]] = {}  # what depends on nodes and templates alone
        self.kept_counts: dict[Hashable, Mapping[str, int]] = {}
        self.loads: dict[Hashable, Mapping[str, float]] = {}  # measured loads by node
        self._pods: dict[str, tuple[Pod, ...]] = dict(cluster.pods_by_node)
        self._counts: dict[Hashable, Counter[str]] = {}
        self._counting: dict[tuple[str, str] | None, list[tuple[Callable[[Pod], bool], Counter[str]]]] = {}
        self._held: dict[str, dict[str, int]] = {}
        self._namespace_labels: dict[str, Labels] = {}

    def node(self, name: str | None) -> Node | None:
        """A node by name."""
        return None if name is None else self.cluster.node_by_name.get(name)

    def pods_on(self, node: str) -> Sequence[Pod]:
        """Pods that hold room on a node, terminating ones too."""
        return self._pods.get(node, ())

    def namespace_labels(self, namespace: str) -> Labels:
        """Labels of a namespace; its name is always one of them."""
        found = self._namespace_labels.get(namespace)
        if found is None:
            known = self.cluster.namespace_labels.get(namespace, {})
            found = self._namespace_labels[namespace] = {"kubernetes.io/metadata.name": namespace, **known}
        return found

    @cached_property
    def _kinds(self) -> CheckedKinds:
        return CheckedKinds(self._pods)

    @cached_property
    def _holders(self) -> TermHolders:
        return TermHolders(self._pods)

    @cached_property
    def _users(self) -> defaultdict[tuple[str, str], set[str]]:
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for pods in self._pods.values():
            for pod in pods:
                for volume in pod.volumes:
                    found[(pod.namespace, volume.claim)].add(pod.key)
        return found

    @property
    def namespaces(self) -> Iterable[str]:
        """Every namespace with pods on nodes."""
        return self._kinds.namespaces

    @property
    def holders(self) -> TermHolders:
        """Pods with required anti-affinity."""
        return self._holders

    def users_of_claim(self, namespace: str, claim: str) -> frozenset[str]:
        """Keys of the pods on nodes that use a claim."""
        return frozenset(self._users.get((namespace, claim), ()))

    def count(
        self,
        key: Hashable,
        namespaces: Namespaces,
        picks: Callable[[Labels], bool],
        selectors: Iterable[LabelSelector | None] = (),
        *,
        standing_only: bool = False,
    ) -> Mapping[str, int]:
        """Pods by node in these namespaces whose labels are picked; nodes without any may be absent or 0.

        ``key`` says by value what is picked, so that one count serves every arrival that asks the same. ``selectors``:
        all of them pick those pods; they only tell where to look.
        """
        found = self._counts.get(key)
        if found is None:
            told = [telling for telling in map(telling_labels, selectors) if telling is not None]
            telling = min(told, key=len, default=None)

            def is_counted(pod: Pod) -> bool:
                if standing_only and pod.is_terminating:
                    return False
                return (namespaces is None or pod.namespace in namespaces) and picks(pod.labels)

            found = self._counts[key] = self._kinds.count(namespaces, picks, telling, standing_only)
            for label in (None,) if telling is None else telling:
                self._counting.setdefault(label, []).append((is_counted, found))
        return found

    def held_on(self, node: str) -> Mapping[str, int]:
        """What the pods on a node hold together."""
        found = self._held.get(node)
        if found is None:
            found = self._held[node] = {}
            for pod in self.pods_on(node):
                _add_held(found, pod, 1)
        return found

    def depart(self, arrivals: Iterable[Arrival]) -> list[Arrival]:
        """Let the pods leave the nodes they are on, before they arrive; the arrivals that are then to come."""
        found = []
        for old, node in arrivals:
            self._leave(old)
            found.append(Arrival(msgspec.structs.replace(old, node_name=None, held=None), node))
        return found

    def _leave(self, old: Pod) -> None:
        if old.node_name is not None:
            self._pods[old.node_name] = tuple(pod for pod in self.pods_on(old.node_name) if pod.key != old.key)
            self._tally(old, old.node_name, -1)

    def land(self, arrivals: Iterable[Arrival]) -> None:
        """End a wave: arrived pods stay, and give up the nodes they came from."""
        for old, node in arrivals:
            self._leave(old)
            new = msgspec.structs.replace(old, node_name=node.name, held=None, deletion_at=None)
            self._pods[node.name] = (*self.pods_on(node.name), new)
            self._tally(new, node.name, 1)

    def _tally(self, pod: Pod, node: str, sign: int) -> None:
        """Keep true what was counted; what was not asked for yet is counted later from the pods themselves."""
        held = self._held.get(node)
        if held is not None:
            _add_held(held, pod, sign)
        if "_kinds" in self.__dict__:
            self._kinds.add(pod, node, sign)
        if "_holders" in self.__dict__:
            self._holders.add(pod, node, sign)
        if "_users" in self.__dict__:
            for volume in pod.volumes:
                users = self._users[(pod.namespace, volume.claim)]
                users.add(pod.key) if sign > 0 else users.discard(pod.key)
        for label in (None, *pod.labels.items()):
            for is_counted, counts in self._counting.get(label, ()):
                if is_counted(pod):
                    counts[node] += sign


def _add_held(total: dict[str, int], pod: Pod, sign: int) -> None:
    """Let a pod's requests, or what it holds instead while it is resized, come (1) or go (-1)."""
    for name, amount in pod.spec.requests if pod.held is None else pod.held:
        total[name] = total.get(name, 0) + sign * amount
