"""Pods on nodes with required anti-affinity, by their terms: they keep others away from their domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rescheduler.model.constraints import PodAffinityTerm
from rescheduler.model.pod import Pod


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
        self._by_namespace: dict[str, list[tuple[Holders, PodAffinityTerm]]] = {}
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
        self, namespace: str, looks_into: Callable[[PodAffinityTerm, str, str], bool]
    ) -> Iterator[tuple[Holders, PodAffinityTerm]]:
        """Terms, with those that hold them, which look at pods of a namespace.

        ``looks_into``: whether a term of a pod in the first namespace looks at pods of the second.
        """
        found = self._by_namespace.get(namespace)
        if found is None:
            found = self._by_namespace[namespace] = []
            for holders in self._groups.values():
                found.extend(
                    (holders, term) for term in holders.terms if looks_into(term, holders.namespace, namespace)
                )
        yield from found

    def _holders_of(self, pod: Pod) -> Holders:
        key = (pod.namespace, pod.spec.anti_affinity)
        if key not in self._groups:
            self._groups[key] = Holders(*key, [])
            self._by_namespace.clear()
        return self._groups[key]
