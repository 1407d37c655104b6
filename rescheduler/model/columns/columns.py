"""The cluster as arrays: the place where nodes and pods become indices for filters, scores and planner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.selection import Grouping, PodSelection
from rescheduler.model.columns.selectors import NodeTable, same_labels
from rescheduler.model.columns.taints import TaintTable
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources

# Topology domains: which nodes share a value of a label.


class Domains:
    """Topology domains: for each label key, the index of each node's value."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Read labels of ``nodes``; keys are indexed when first asked for."""
        self._nodes = nodes
        self._by_key: dict[str, tuple[IndexArray, tuple[str, ...]]] = {}

    def of(self, topology_key: str) -> tuple[IndexArray, tuple[str, ...]]:
        """Domain index of each node, int32[N] (NOWHERE where the label is absent), and the values in order."""
        found = self._by_key.get(topology_key)
        if found is None:
            texts = [node.labels.get(topology_key) for node in self._nodes]
            values = tuple(sorted({text for text in texts if text is not None}))
            index = {value: number for number, value in enumerate(values)}
            codes = np.array([NOWHERE if text is None else index[text] for text in texts], dtype=np.int32)
            found = self._by_key[topology_key] = (codes, values)
        return found

    def reach(self, topology_key: str, nodes: IndexArray) -> BoolArray:
        """Nodes that share a domain with any of ``nodes``, bool[N]; a node without the key shares none."""
        codes, values = self.of(topology_key)
        is_met = np.zeros(len(values) + 1, dtype=np.bool_)
        is_met[codes[nodes]] = True
        is_met[NOWHERE] = False
        reached: BoolArray = is_met[codes]
        return reached

    def totals(self, topology_key: str, nodes: IndexArray, weight: int = 1) -> IntArray:
        """For each node the number of entries of ``nodes`` in its domain times ``weight``, int64[N]; 0 without one."""
        codes, values = self.of(topology_key)
        sums = np.bincount(codes[nodes] + 1, minlength=len(values) + 1) * weight
        sums[0] = 0
        totals: IntArray = sums[codes + 1]
        return totals


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Columns:
    """Nodes (N), pods (P), resources (R), shapes (S) and label sets (L) of one cluster as arrays.

    A *shape* is one distinct PodSpec; a *label set* one distinct pair of namespace and labels. Row order of
    ``resources``: cpu, memory, pods, ephemeral-storage, then the others by name. Every shape asks for one of ``pods``.
    ``ceiling``: int64[R], more than any node has; where all pods together ask for more than fits into 64 bits, a pod
    that asks for more than that counts as much.
    ``initial_node_of``: int32[P], NOWHERE for pods that hold no room on a known node.
    """

    cluster: Cluster
    node_index: Mapping[str, int]
    pod_index: Mapping[str, int]  # by NAMESPACE/NAME
    resources: tuple[str, ...]
    allocatable: IntArray  # [R, N]
    ceiling: IntArray  # [R]
    shapes: tuple[PodSpec, ...]
    shape_of: IndexArray  # [P]
    requests: IntArray  # [R, S]
    label_sets: tuple[tuple[str, Mapping[str, str]], ...]
    label_set_of: IndexArray  # [P]
    initial_node_of: IndexArray  # [P]

    @property
    def node_count(self) -> int:
        """N."""
        return len(self.cluster.nodes)

    @property
    def pod_count(self) -> int:
        """P."""
        return len(self.cluster.pods)

    @cached_property
    def resource_index(self) -> Mapping[str, int]:
        """Row of each resource."""
        return {name: row for row, name in enumerate(self.resources)}

    def vector(self, amounts: Resources) -> IntArray:
        """Amounts as int64[R], one pod counted under ``pods``. A resource that is no row is left out."""
        vector = np.zeros(len(self.resources), dtype=np.int64)
        for name, amount in amounts:
            row = self.resource_index.get(name)
            if row is not None:
                vector[row] = amount
        vector[self.resource_index[PODS]] = 1
        return np.minimum(vector, self.ceiling)

    def held(self, pod: int) -> IntArray:
        """What a pod holds on its present node, int64[R]."""
        amounts = self.cluster.pods[pod].held
        return self.requests[:, self.shape_of[pod]] if amounts is None else self.vector(amounts)

    @cached_property
    def scored_requests(self) -> IntArray:
        """Cpu and memory (rows 0 and 1) as kube-scheduler scores them: with its non-zero defaults, int64[2, S]."""
        scored = self.requests[:2].copy()
        for shape, spec in enumerate(self.shapes):
            _set_scored(scored[:, shape], spec.scored_requests)
        return np.minimum(scored, self.ceiling[:2, None])

    @cached_property
    def arriving_requests(self) -> IntArray:
        """The same for a pod that is about to be placed, int64[2, S]."""
        arriving = self.scored_requests
        for shape, spec in enumerate(self.shapes):
            if spec.arriving_requests is not None:
                arriving = arriving.copy() if arriving is self.scored_requests else arriving
                _set_scored(arriving[:, shape], spec.arriving_requests)
        return np.minimum(arriving, self.ceiling[:2, None])

    @cached_property
    def domains(self) -> Domains:
        """Values of topology keys over the nodes."""
        return Domains(self.cluster.nodes)

    @cached_property
    def node_table(self) -> NodeTable:
        """Labels and names of the nodes, as node selectors see them."""
        return NodeTable(self.cluster.nodes)

    @cached_property
    def taint_table(self) -> TaintTable:
        """Taints of the nodes."""
        return TaintTable(self.cluster.nodes)

    @cached_property
    def pod_selection(self) -> PodSelection:
        """Pods, as label selectors see them."""
        return PodSelection(self)

    @cached_property
    def pods_of_shape(self) -> Grouping:
        """Pods by shape."""
        return Grouping(self.shape_of, len(self.shapes))

    @cached_property
    def is_terminating(self) -> BoolArray:
        """Pods whose deletion has begun, bool[P]."""
        return np.fromiter((pod.is_terminating for pod in self.cluster.pods), dtype=np.bool_, count=self.pod_count)

    def facts(self, kind: Callable[[Columns], T]) -> T:
        """What ``kind`` derives from these columns: made when first asked for, then kept."""
        if kind not in self._facts:
            self._facts[kind] = kind(self)
        found: T = self._facts[kind]
        return found

    @cached_property
    def _facts(self) -> dict[object, Any]:
        return {}


def columns_of(cluster: Cluster) -> Columns:
    """Turn a cluster into arrays; O(nodes + pods), pods of one template are looked at once."""
    node_index = {node.name: number for number, node in enumerate(cluster.nodes)}
    shape_of, shapes = _interned((pod.spec for pod in cluster.pods), lambda spec: spec)
    label_set_of, label_sets = _label_sets(cluster.pods)
    resources = _resource_names(cluster, shapes, shape_of)
    rows = {name: row for row, name in enumerate(resources)}
    allocatable = _matrix((node.allocatable for node in cluster.nodes), rows, len(cluster.nodes))
    requests = _matrix((shape.requests for shape in shapes), rows, len(shapes))
    ceiling = _ceiling(allocatable, requests, shape_of, cluster.pods, rows)
    return Columns(
        cluster=cluster,
        node_index=node_index,
        pod_index={pod.key: number for number, pod in enumerate(cluster.pods)},
        resources=resources,
        allocatable=np.minimum(allocatable, ceiling[:, None] - 1),
        ceiling=ceiling,
        shapes=shapes,
        shape_of=shape_of,
        requests=_with_one_pod(np.minimum(requests, ceiling[:, None]), rows[PODS]),
        label_sets=label_sets,
        label_set_of=label_set_of,
        initial_node_of=np.array(
            [
                NOWHERE if pod.node_name is None or pod.is_finished else node_index.get(pod.node_name, NOWHERE)
                for pod in cluster.pods
            ],
            dtype=np.int32,
        ),
    )


def _interned(items: Iterable[T], key: Callable[[T], Hashable]) -> tuple[IndexArray, tuple[T, ...]]:
    """Number equal items; items that are the very same object are hashed only once."""
    by_id: dict[int, int] = {}
    by_value: dict[Hashable, int] = {}
    distinct: list[T] = []
    numbers: list[int] = []
    for item in items:
        number = by_id.get(id(item))
        if number is None:
            number = by_value.setdefault(key(item), len(distinct))
            if number == len(distinct):
                distinct.append(item)
            by_id[id(item)] = number
        numbers.append(number)
    return np.array(numbers, dtype=np.int32), tuple(distinct)


def _label_sets(pods: tuple[Pod, ...]) -> tuple[IndexArray, tuple[tuple[str, Mapping[str, str]], ...]]:
    of_labels, labels = _interned((pod.labels for pod in pods), same_labels)
    index: dict[tuple[str, int], int] = {}
    pairs = zip((pod.namespace for pod in pods), of_labels.tolist(), strict=True)
    numbers = [index.setdefault(pair, len(index)) for pair in pairs]
    return np.array(numbers, dtype=np.int32), tuple((namespace, labels[number]) for namespace, number in index)


MOST_UNOFFERED: Final = 256
UNOFFERED: Final = "(one of many resources that no node has)"
"""The row of all resources that no node has and few pods ask for, once there are very many: whoever asks gets none."""


def _resource_names(cluster: Cluster, shapes: tuple[PodSpec, ...], shape_of: IndexArray) -> tuple[str, ...]:
    first = (CPU, MEMORY, PODS, EPHEMERAL_STORAGE)
    offered = {name for node in cluster.nodes for name, _ in node.allocatable}
    asked: Counter[str] = Counter()
    for shape, number in zip(shapes, np.bincount(shape_of, minlength=len(shapes)).tolist(), strict=True):
        asked.update({name: number for name, _ in shape.requests})
    asked.update(name for pod in cluster.pods if pod.held for name, _ in pod.held)
    others = sorted(asked.keys() - offered - set(first), key=lambda name: (-asked[name], name))
    rest = (UNOFFERED,) if len(others) > MOST_UNOFFERED else ()
    return (*first, *sorted((offered | set(others[:MOST_UNOFFERED])) - set(first)), *rest)


def _matrix(columns: Iterable[Resources], rows: Mapping[str, int], width: int) -> IntArray:
    matrix = np.zeros((len(rows), width), dtype=np.int64)
    for column, amounts in enumerate(columns):
        for name, amount in amounts:
            matrix[rows[name] if name in rows else rows[UNOFFERED], column] = amount
    return matrix


_LARGEST_SUM: Final = 2**61


def _ceiling(
    allocatable: IntArray, requests: IntArray, shape_of: IndexArray, pods: Sequence[Pod], rows: Mapping[str, int]
) -> IntArray:
    """More than any node has of each resource, int64[R], and so that no sum over all pods is beyond 64 bits.

    Nothing but such a sum is cut off by it: a pod that asks for more than any node has fits nowhere either way.
    """
    numbers = np.bincount(shape_of, minlength=requests.shape[1])
    sums = requests.astype(np.float64) @ numbers + allocatable.sum(axis=1, dtype=np.float64)
    for pod in pods:
        for name, amount in pod.held or ():
            sums[rows.get(name, -1)] += amount
    largest = np.full(len(rows), 2 * _LARGEST_SUM, dtype=np.int64)
    most = np.minimum(allocatable.max(axis=1, initial=0), _LARGEST_SUM // (len(pods) + allocatable.shape[1] + 1)) + 1
    return np.where(sums > _LARGEST_SUM, most, largest)


def _set_scored(column: IntArray, amounts: Resources) -> None:
    rows = {CPU: 0, MEMORY: 1}
    for name, amount in amounts:
        if name in rows:
            column[rows[name]] = amount


def _with_one_pod(matrix: IntArray, row: int) -> IntArray:
    matrix[row] = 1
    return matrix
