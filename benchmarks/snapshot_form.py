"""The snapshot form of benchmark data: nodes with capacities, pods with requests, any resource names.

``{"resources": [name…], "nodes": [[name, capacity…]…], "pods": [[name, owner, priority, node, request…]…]}``, one such
object in a file or one a line, plain or xz. A pod whose node is null waits for one.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import resources

FINEST = 10**6


class InstanceError(ValueError):
    """A file that is not in the snapshot form: names what was found, and where."""


@dataclass(frozen=True)
class Snapshot:
    """One decoded object: amounts as whole numbers, ``units`` of them to one of the file's."""

    name: str
    resources: tuple[str, ...]
    node_names: tuple[Any, ...]
    capacities: tuple[tuple[int, ...], ...]
    pod_names: tuple[Any, ...]
    owners: tuple[Any, ...]
    priorities: tuple[int, ...]
    homes: tuple[int | None, ...]
    requests: tuple[tuple[int, ...], ...]


def read_snapshots(path: Path) -> list[Snapshot]:
    """All objects of a file, in its order. Raises InstanceError or OSError."""
    data = path.read_bytes()
    try:
        text = (lzma.decompress(data) if data[:6] == b"\xfd7zXZ\x00" else data).decode()
        items = _objects(text)
    except (lzma.LZMAError, ValueError) as error:
        raise InstanceError(f"{path}: not JSON in the snapshot form, plain or xz: {error}") from None
    return [_snapshot(item, f"{path.name}" + (f" {n}" if len(items) > 1 else "")) for n, item in enumerate(items)]


def as_cluster(snapshot: Snapshot) -> Cluster:
    """The same as a cluster: node ``i`` and pod ``i`` of the file are node ``i`` and pod ``i`` of it.

    Resources get a prefix, since Kubernetes counts names of its own only with one.
    """
    names = [f"benchmark/{name}" for name in snapshot.resources]
    nodes = [
        Node(
            name=f"{number:07d}",
            allocatable=resources((*zip(names, amounts, strict=True), ("pods", len(snapshot.pod_names)))),
        )
        for number, amounts in enumerate(snapshot.capacities)
    ]
    specs: dict[tuple[tuple[int, ...], int], PodSpec] = {}
    pods = []
    for number, (request, priority) in enumerate(zip(snapshot.requests, snapshot.priorities, strict=True)):
        spec = specs.get((request, priority))
        if spec is None:
            spec = PodSpec(requests=resources(zip(names, request, strict=True)), priority=priority)
            specs[request, priority] = spec
        home, owner = snapshot.homes[number], snapshot.owners[number]
        pods.append(
            Pod(
                namespace="",
                name=f"{number:07d}",
                uid=str(number),
                spec=spec,
                node_name=None if home is None else nodes[home].name,
                phase="Pending" if home is None else "Running",
                owners=() if owner is None else (OwnerReference("ReplicaSet", str(owner), str(owner)),),
            )
        )
    unread = frozenset({"ReplicaSet"})
    return Cluster(nodes=tuple(nodes), pods=tuple(pods), source=snapshot.name, absent_kinds=unread)


def _objects(text: str) -> list[Any]:
    try:
        whole = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def _snapshot(item: Any, name: str) -> Snapshot:
    try:
        names = tuple(item["resources"])
        nodes, pods = item["nodes"], item["pods"]
        factor = _factor(
            [amount for row in nodes for amount in row[1:]] + [amount for row in pods for amount in row[4:]]
        )
        index = {row[0]: number for number, row in enumerate(nodes)}
        for row, width, what in (*((row, 1, "node") for row in nodes), *((row, 4, "pod") for row in pods)):
            if len(row) != width + len(names):
                raise InstanceError(
                    f"{name}: {what} {row[0]!r} has {len(row) - width} amounts for {len(names)} resources"
                )
        for row in pods:
            if row[3] is not None and row[3] not in index:
                raise InstanceError(f"{name}: pod {row[0]!r} is on node {row[3]!r}, which is not in the file")
        return Snapshot(
            name=name,
            resources=names,
            node_names=tuple(row[0] for row in nodes),
            capacities=tuple(tuple(int(amount * factor) for amount in row[1:]) for row in nodes),
            pod_names=tuple(row[0] for row in pods),
            owners=tuple(row[1] for row in pods),
            priorities=tuple(int(row[2] or 0) for row in pods),
            homes=tuple(None if row[3] is None else index[row[3]] for row in pods),
            requests=tuple(tuple(int(amount * factor) for amount in row[4:]) for row in pods),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise InstanceError(f"{name}: not in the snapshot form: {type(error).__name__} {error}") from None


def _factor(amounts: list[float]) -> int | Fraction:
    """What makes all amounts whole; at most FINEST."""
    if all(isinstance(amount, int) for amount in amounts):
        return 1
    factor = 1
    for amount in amounts:
        while factor < FINEST and (Fraction(str(amount)) * factor).denominator != 1:
            factor *= 10
    return Fraction(factor)
