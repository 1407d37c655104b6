"""Which pods one budget covers, and in which of its instances (nodes, zones, ...) each of them is counted."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rescheduler.disruption.budgets.population import ZONE_LABEL, Population
from rescheduler.model.arrays import NOWHERE, IntArray
from rescheduler.model.label_selectors import read_selector, selects
from rescheduler.model.ledger import LedgerEntry
from rescheduler.model.pod import Pod
from rescheduler.policy.budgets import Budget, Per


class Coverage:
    """One budget's pods. ``instance_of``: int64[P], the place of each pod's instance, NOWHERE if it is not covered.

    ``instances``: what people call each instance, "" for the cluster as a whole.
    """

    def __init__(self, population: Population, budget: Budget) -> None:
        """Match once for each kind of pod."""
        self._population = population
        self._namespaces = None if budget.namespaces is None else frozenset(budget.namespaces)
        self._selector = None if budget.label_selector is None else read_selector(budget.label_selector)
        self._per = budget.per
        self._places: dict[Hashable, int] = {}
        self.instances: list[str] = []
        if budget.per in (Per.NODE, Per.ZONE):
            self._add_places_of_nodes()
        self.instance_of = self._instances()

    def place_of(self, pod: Pod) -> int:
        """The place of one pod's instance; NOWHERE if it is not covered."""
        return self._places.get(self._key(pod), NOWHERE) if self._covers(pod) else NOWHERE

    def place_of_entry(self, entry: LedgerEntry) -> int:
        """Where an earlier eviction counts, by what the ledger keeps of its pod; NOWHERE if it does not."""
        if self._namespaces is not None and entry.pod.namespace not in self._namespaces:
            return NOWHERE
        if self._selector is not None and not selects(self._selector, entry.labels):
            return NOWHERE
        keys: dict[Per, Hashable] = {
            Per.CLUSTER: "",
            Per.NODE: entry.from_node,
            Per.ZONE: entry.zone,
            Per.NAMESPACE: entry.pod.namespace,
            Per.WORKLOAD: entry.workload or _ownerless(entry.pod.namespace),
        }
        return self._places.get(keys[self._per], NOWHERE)

    def _covers(self, pod: Pod) -> bool:
        if self._namespaces is not None and pod.namespace not in self._namespaces:
            return False
        return self._selector is None or selects(self._selector, pod.labels)

    def _add_places_of_nodes(self) -> None:
        population = self._population
        if self._per is Per.NODE:
            self._places.update(population.node_index)
            self.instances = [f"node {name}" for name in population.node_index]
        else:
            self._places.update({zone: place for place, zone in enumerate(population.zones)})
            self.instances = [f"zone {zone}" if zone else "nodes without a zone" for zone in population.zones]

    def _instances(self) -> IntArray:
        population = self._population
        examples = population.kinds.examples
        covered = np.array([self._covers(pod) for pod in examples], dtype=np.bool_) & population.is_counted
        if self._per in (Per.NODE, Per.ZONE):
            on_node = population.node_of
            place = on_node if self._per is Per.NODE else np.append(population.zone_of_node, NOWHERE)[on_node]
            return np.where(covered[population.kind_of], place, NOWHERE)
        of_kind = np.full(len(examples), NOWHERE, dtype=np.int64)
        for kind in np.flatnonzero(covered).tolist():
            of_kind[kind] = self._numbered(examples[kind])
        return of_kind[population.kind_of]

    def _numbered(self, pod: Pod) -> int:
        """The place of an instance that is met, perhaps for the first time."""
        key = self._key(pod)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.instances)
            self.instances.append(self._called(pod))
        return place

    def _key(self, pod: Pod) -> Hashable:
        cluster = self._population.cluster
        if self._per is Per.NODE:
            return pod.node_name
        if self._per is Per.ZONE:
            node = cluster.node_by_name.get(pod.node_name or "")
            return None if node is None else node.labels.get(ZONE_LABEL, "")
        if self._per is Per.NAMESPACE:
            return pod.namespace
        if self._per is Per.WORKLOAD:
            workload = cluster.workload_of(pod)
            return _ownerless(pod.namespace) if workload is None else workload.uid
        return ""

    def _called(self, pod: Pod) -> str:
        if self._per is Per.NAMESPACE:
            return f"namespace {pod.namespace}"
        if self._per is Per.WORKLOAD:
            workload = self._population.cluster.workload_of(pod)
            return f"the pods of {pod.namespace} without an owner" if workload is None else workload.key
        return ""


def _ownerless(namespace: str) -> Hashable:
    """Pods without an owner are one instance in each namespace."""
    return ("", namespace)
