"""A cluster as it would be with further nodes, or with nodes that are to go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from msgspec import UNSET, structs

from rescheduler.model.columns.spread import HOSTNAME
from rescheduler.model.machine import Machine
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node, is_a_passing_mark
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import PODS, Resources, exact_amount, resources
from rescheduler.model.plan.leaving_taint import is_leaving_taint
from rescheduler.model.plan.what_if import AddedNode, NodeShape

PREFIX: Final = "added-"
TO_GO: Final = "rescheduler.dev/what-if-removed"
"""Label of nodes that are to go, in thought only: the objective that empties them selects by it."""
USUAL_PODS: Final = 110
"""How many pods a node takes that does not say."""


class Imagined(NamedTuple):
    """``cluster`` with ``added`` nodes."""

    cluster: Cluster
    added: tuple[AddedNode, ...]


def with_nodes(cluster: Cluster, shapes: Sequence[NodeShape]) -> Imagined:
    """Add empty, ready nodes, named so that nobody takes them for real ones.

    ``shapes``: each ``like`` names a node of the cluster. A node of a plain shape has the labels that all nodes share,
    a machine its own.
    """
    names = (f"{PREFIX}{number}" for number in range(1, 10**9))
    free = (name for name in names if name not in cluster.node_by_name)
    nodes: list[Node] = []
    added: list[AddedNode] = []
    for shape in shapes:
        model = _model(shape, cluster)
        own = _node_pods(cluster, shape.like if shape.machine is None else shape.machine.sample)
        room = _less(model.allocatable, own)
        for _ in range(shape.count):
            name = next(free)
            nodes.append(_empty_copy(model, name, room))
            told = {key: exact_amount(key, amount) for key, amount in room}
            added.append(AddedNode(name, told, shape.like or UNSET, len(own), **_bought(shape.machine)))
    everything = sorted((*cluster.nodes, *nodes), key=lambda node: node.name)
    return Imagined(replace(cluster, nodes=tuple(everything)), tuple(added))


def _model(shape: NodeShape, cluster: Cluster) -> Node:
    """What a node of this shape is like."""
    machine = shape.machine
    if machine is not None:
        offered = with_pods(machine.resources)
        return Node("", allocatable=offered, capacity=offered, labels=machine.labels, taints=machine.taints)
    return cluster.node_by_name[shape.like] if shape.like else _plain(cluster, shape.resources)


def _bought(machine: Machine | None) -> dict[str, Any]:
    if machine is None:
        return {}
    fields = ("instance_type", "capacity_type", "zone", "node_pool")
    told = {field: value for field, value in zip(fields, machine.place, strict=True) if value is not None}
    return {**told, "price": round(machine.price, 2)}


def with_nodes_to_go(cluster: Cluster, names: Collection[str]) -> Cluster:
    """The same cluster with nodes cordoned and labelled as to go: they receive nothing."""
    return replace(cluster, nodes=tuple(_to_go(node) if node.name in names else node for node in cluster.nodes))


def _to_go(node: Node) -> Node:
    return structs.replace(node, labels={**node.labels, TO_GO: "true"}, is_unschedulable=True)


def _plain(cluster: Cluster, offers: Resources) -> Node:
    """A node with these resources, and the labels that every node has with the same value."""
    shared = dict(cluster.nodes[0].labels) if cluster.nodes else {}
    for node in cluster.nodes:
        shared = {key: value for key, value in shared.items() if node.labels.get(key) == value}
    offered = with_pods(offers)
    return Node("", allocatable=offered, capacity=offered, labels=shared)


def with_pods(offers: Resources) -> Resources:
    """What a node offers, with the usual number of pods where none is told."""
    return resources({PODS: USUAL_PODS, **dict(offers)}.items())


def _empty_copy(model: Node, name: str, room: Resources) -> Node:
    """A node like another one when it is new: without what is passing, and without images."""
    return Node(
        name=name,
        uid=name,
        allocatable=room,
        capacity=model.capacity,
        labels={**model.labels, HOSTNAME: name},
        taints=lasting_taints(model),
    )


def lasting_taints(node: Node) -> tuple[Taint, ...]:
    """Taints that a node like this one has when it is new."""
    return tuple(taint for taint in node.taints if not _is_passing(taint))


def _is_passing(taint: Taint) -> bool:
    return is_leaving_taint(taint) or is_a_passing_mark(taint) or taint.key.startswith("node.kubernetes.io/")


def _node_pods(cluster: Cluster, like: str) -> list[Pod]:
    """Pods that would come with a node: those of its model, or one of each DaemonSet that runs on every node."""
    if like:
        return [pod for pod in cluster.pods_by_node.get(like, ()) if pod.belongs_to_its_node and not pod.is_terminating]
    everywhere = {node.name for node in cluster.nodes if node.is_ready and not node.taints and not node.is_virtual}
    example: dict[str, Pod] = {}
    found_on: dict[str, set[str]] = {}
    for pod in _daemon_pods(cluster):
        owner = pod.controller
        assert owner is not None  # it is of a DaemonSet
        example.setdefault(owner.uid, pod)
        found_on.setdefault(owner.uid, set()).add(pod.node_name or "")
    return [pod for uid, pod in example.items() if everywhere and everywhere <= found_on[uid]]


def _daemon_pods(cluster: Cluster) -> Iterator[Pod]:
    for pods in cluster.pods_by_node.values():
        for pod in pods:
            if pod.controller is not None and pod.controller.kind == "DaemonSet":
                yield pod


def _less(allocatable: Resources, pods: Sequence[Pod]) -> Resources:
    """What is left beside these pods, never less than nothing."""
    left = dict(allocatable)
    for pod in pods:
        for name, amount in (*pod.amounts, (PODS, 1)):
            if name in left:
                left[name] = max(0, left[name] - amount)
    return resources(left.items())
