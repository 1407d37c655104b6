"""Which narrow reads make up what one move depends on; the live and the embedded cluster ask the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.plan import Move
from rescheduler.model.plan.vicinity import Vicinity, counted_with, owners_of

Named = TypeVar("Named", Pod, DisruptionBudget)


class NarrowReads(Protocol):
    """Objects as they stand now. Each raises ClusterError."""

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """One pod, or None."""

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """The pods of one namespace that a selector matches (None: all)."""

    def pods_on(self, node: str) -> Sequence[Pod]:
        """The pods that are bound to a node, of all namespaces."""

    def budgets_in(self, namespace: str) -> Sequence[DisruptionBudget]:
        """The PodDisruptionBudgets of one namespace."""

    def read_node(self, name: str) -> Node | None:
        """One node, or None."""

    def read_workload(self, known: Workload) -> Workload | None:
        """An owner of this kind and name, or None."""


Reads = Sequence[Callable[[], Any]]


def in_turn(reads: Reads) -> list[Any]:
    """One read after the other."""
    return [read() for read in reads]


def read_vicinity(
    reads: NarrowReads, move: Move, cluster: Cluster, together: Callable[[Reads], list[Any]] = in_turn
) -> Vicinity:
    """Read what a move depends on. ``cluster``: who owns the pod; ``together`` does reads that do not wait for another.

    The pods that are counted with this one are read last, since its labels and the budgets say which they are. The pod
    itself is among those on its node; where it is not, it is asked for.
    """
    namespace, name = move.pod.namespace, move.pod.name
    before = cluster.pod_by_key.get(move.pod.key)
    owners = () if before is None else owners_of(cluster, before)
    budgets, on_origin, on_destination, *objects = together(
        [
            lambda: reads.budgets_in(namespace),
            lambda: reads.pods_on(move.from_node),
            lambda: reads.pods_on(move.to_node),
            lambda: reads.read_node(move.from_node),
            lambda: reads.read_node(move.to_node),
            *(partial(reads.read_workload, owner) for owner in owners),
        ]
    )
    pod = next((item for item in on_origin if item.key == move.pod.key), None) or reads.read_pod(namespace, name)
    selectors = () if pod is None else counted_with(cluster, pod, tuple(budgets))
    lists = together([partial(reads.read_pods, namespace, selector) for selector in selectors])
    pods = {item.key: item for found in (on_origin, on_destination, *lists) for item in found}
    if pod is None:
        pods.pop(move.pod.key, None)
    elif move.pod.key not in pods:
        pods[pod.key] = pod
    nodes = {node.name: node for node in objects[:2] if node is not None}
    workloads = (owner for owner in objects[2:] if owner is not None)
    return Vicinity(in_order(pods.values()), in_order(budgets), tuple(nodes.values()), tuple(workloads))


def in_order(objects: Iterable[Named]) -> tuple[Named, ...]:
    """By namespace and name, so that two answers are alike whoever gave them."""
    return tuple(sorted(objects, key=attrgetter("namespace", "name")))
