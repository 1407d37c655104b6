"""Which pods one budget covers, and in which of its instances (nodes, zones, ...) each of them is counted."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

import numpy as np

from rescheduler.disruption.pod_kinds import PodKinds, counts_as_ready
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.budgets import Budget, Per

# The pods of a cluster as arrays that every budget counts in: kind, node, and whether they are counted at all.

ZONE_LABEL = "topology.kubernetes.io/zone"


class Population:
    """Arrays over pods (P), kinds of pods (K) and nodes (N).

    ``kind_of``: int64[P]; ``node_of``: int64[P], NOWHERE where a pod is on no node of the snapshot; ``is_counted``:
    bool[K], false for finished pods and for our own placeholders; ``is_ready``: bool[K]; ``zone_of_node``: int64[N],
    places in ``zones``, where "" stands for nodes without one. Of pods that ``kinds`` was not asked about nothing is
    told: they are in no instance.
    """

    def __init__(self, cluster: Cluster, kinds: PodKinds) -> None:
        """Gather them; O(pods + nodes)."""
        self.cluster = cluster
        self.kinds = kinds
        self.node_index = {node.name: number for number, node in enumerate(cluster.nodes)}
        self.kind_of: IntArray = np.array(kinds.kind_of, dtype=np.int64)
        self.is_counted: BoolArray = np.array(
            [not pod.is_finished and pod.labels.get(MANAGED_BY) != OURS for pod in kinds.examples], dtype=np.bool_
        )
        self.is_ready: BoolArray = np.array([counts_as_ready(pod) for pod in kinds.examples], dtype=np.bool_)
        zones = [node.labels.get(ZONE_LABEL, "") for node in cluster.nodes]
        self.zones = sorted(set(zones))
        number = {zone: place for place, zone in enumerate(self.zones)}
        self.zone_of_node: IntArray = np.array([number[zone] for zone in zones], dtype=np.int64)

    @cached_property
    def node_of(self) -> IntArray:
        """Each pod's node; see the class."""
        index = self.node_index
        return np.array([index.get(pod.node_name or "", NOWHERE) for pod in self.cluster.pods], dtype=np.int64)

    def of_pods(self, of_kind: IntArray) -> IntArray:
        """For each pod what is told for its kind, int64[P]; NOWHERE for those that were not asked about."""
        return np.append(of_kind, NOWHERE)[self.kind_of]


class Coverage:
    """One budget's pods. ``instance_of``: int64[P], the place of each pod's instance, NOWHERE if it is not covered.

    ``instances``: what people call each instance, "" for the cluster as a whole.
    """

    def __init__(self, population: Population, budget: Budget) -> None:
        """Match once for each kind of pod."""
        self._population = population
        self._namespaces = None if budget.namespaces is None else frozenset(budget.namespaces)
        self._selector = None if budget.label_selector is None else read_selector(budget.label_selector)
        self._keys = frozenset() if budget.label_selector is None else budget.label_selector.keys
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
        """Where an earlier eviction counts, by what the ledger keeps of its pod; NOWHERE if it does not.

        Of an entry that does not tell which labels its pod had, since no budget asked then, the worst is assumed.
        """
        if self._namespaces is not None and entry.pod.namespace not in self._namespaces:
            return NOWHERE
        if self._selector is not None and self._is_told(entry) and not selects(self._selector, entry.labels):
            return NOWHERE
        keys: dict[Per, Hashable] = {
            Per.CLUSTER: "",
            Per.NODE: entry.from_node,
            Per.ZONE: entry.zone,
            Per.NAMESPACE: entry.pod.namespace,
            Per.WORKLOAD: entry.workload or _ownerless(entry.pod.namespace),
        }
        return self._places.get(keys[self._per], NOWHERE)

    def _is_told(self, entry: LedgerEntry) -> bool:
        """Whether the ledger keeps what this budget tells pods apart by."""
        return entry.label_keys is None or self._keys.issubset(entry.label_keys)

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
            return np.where(np.append(covered, False)[population.kind_of], place, NOWHERE)
        of_kind = np.full(len(examples), NOWHERE, dtype=np.int64)
        for kind in np.flatnonzero(covered).tolist():
            of_kind[kind] = self._numbered(examples[kind])
        return population.of_pods(of_kind)

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
