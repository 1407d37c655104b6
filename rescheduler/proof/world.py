"""Who sits where while a plan is replayed: one wave's beginning, carried forward wave by wave."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from rescheduler.model.cluster import Cluster
from rescheduler.model.node import Node
from rescheduler.model.pod import Pod
from rescheduler.model.scheduler_rules import ArrivalRules
from rescheduler.proof.kinds import Kinds, Labels, Namespaces
from rescheduler.proof.term_holders import TermHolders


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
        self.loads: dict[Hashable, Mapping[str, float]] = {}  # measured loads by node
        self._pods: dict[str, tuple[Pod, ...]] = dict(cluster.pods_by_node)
        self._counts: dict[Hashable, tuple[Callable[[Pod], bool], Counter[str]]] = {}
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
    def _kinds(self) -> Kinds:
        return Kinds(self._pods)

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
        *,
        standing_only: bool = False,
    ) -> Mapping[str, int]:
        """Pods by node in these namespaces whose labels are picked; nodes without any may be absent or 0.

        ``key`` says by value what is picked, so that one count serves every arrival that asks the same.
        """
        entry = self._counts.get(key)
        if entry is None:

            def is_counted(pod: Pod) -> bool:
                if standing_only and pod.is_terminating:
                    return False
                return (namespaces is None or pod.namespace in namespaces) and picks(pod.labels)

            counts = self._kinds.count(namespaces, picks, standing_only)
            entry = self._counts[key] = (is_counted, counts)
        return entry[1]

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
        if "_kinds" in self.__dict__:
            self._kinds.add(pod, node, sign)
        if "_holders" in self.__dict__:
            self._holders.add(pod, node, sign)
        if "_users" in self.__dict__:
            for volume in pod.volumes:
                users = self._users[(pod.namespace, volume.claim)]
                users.add(pod.key) if sign > 0 else users.discard(pod.key)
        for is_counted, counts in self._counts.values():
            if is_counted(pod):
                counts[node] += sign
