"""Pods on nodes by namespace and labels, so that a selector is matched once for many pods."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from rescheduler.model.pod import Pod

Labels: TypeAlias = Mapping[str, str]
Namespaces: TypeAlias = frozenset[str] | None
"""Names of namespaces; None: all."""


class Kind(NamedTuple):
    """Pods of one namespace with equal labels: the node of each, terminating ones apart."""

    labels: Labels
    standing: list[str]
    terminating: list[str]


class Kinds:
    """Every kind of pod on the nodes."""

    def __init__(self, pods_by_node: Mapping[str, Sequence[Pod]]) -> None:
        """Sort the pods by kind; those that share one object as labels are told apart by identity alone."""
        self._kinds: dict[str, dict[Hashable, Kind]] = defaultdict(dict)
        met: dict[tuple[str, int], Kind] = {}
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

    def count(self, namespaces: Namespaces, picks: Callable[[Labels], bool], standing_only: bool) -> Counter[str]:
        """Pods by node whose namespace and labels are picked."""
        total: Counter[str] = Counter()
        for namespace in self._kinds if namespaces is None else namespaces:
            for kind in self._kinds.get(namespace, {}).values():
                if picks(kind.labels):
                    total.update(kind.standing)
                    if not standing_only:
                        total.update(kind.terminating)
        return total

    def _kind_of(self, pod: Pod) -> Kind:
        return self._kinds[pod.namespace].setdefault(frozenset(pod.labels.items()), Kind(pod.labels, [], []))
