"""A decoded Node as the model's Node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Raw

from rescheduler.adapters.kubernetes.objects.decoding.amounts import amounts, at_most
from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    ApiStruct,
    Condition,
    ObjectMeta,
    SharedMetadata,
    is_plain,
    name_of,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_status import pod_conditions
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, LARGEST_AMOUNT, MEMORY, PODS, offered_amount, resources
from rescheduler.model.times import read_time

# Fields of a Node.


class TaintObject(ApiStruct):
    """One taint."""

    key: str
    effect: str
    value: str | None = None


class NodeSpecObject(ApiStruct):
    """Whether pods may be put on the node."""

    unschedulable: bool | None = None
    taints: list[TaintObject] | None = None


class ContainerImage(ApiStruct):
    """An image that a node has, under all its names."""

    names: list[str] | None = None
    size_bytes: int | None = None


class NodeAddress(ApiStruct):
    """One address of a node."""

    type: str | None = None
    address: str | None = None


class NodeStatusObject(ApiStruct):
    """What the node offers. ``images`` repeat from node to node."""

    allocatable: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None
    conditions: list[Condition] | None = None
    images: list[Raw] | None = None
    addresses: list[NodeAddress] | None = None


class NodeObject(ApiStruct):
    """A Node."""

    metadata: ObjectMeta | None = None
    spec: NodeSpecObject | None = None
    status: NodeStatusObject | None = None


_LARGEST_CACHE: Final = 100_000


class NodeConversion:
    """Turns decoded nodes into the model's; nodes share the images that they have in common."""

    def __init__(self, warn: Callable[[str], None], shared: SharedMetadata | None = None) -> None:
        """``warn`` is told of what cannot be used; one instance for one snapshot."""
        self._warn = warn
        self._shared = shared or SharedMetadata()
        self._images: dict[bytes, tuple[tuple[str, int], ...]] = {}

    def convert(self, found: NodeObject) -> Node:
        """One node. Raises ObjectError."""
        meta, spec, status = (
            found.metadata or ObjectMeta(),
            found.spec or NodeSpecObject(),
            found.status or NodeStatusObject(),
        )
        name = sys.intern(name_of(meta))
        offered = amounts(status.allocatable, at_most(offered_amount), "status.allocatable")
        capacity = amounts(status.capacity, at_most(offered_amount), "status.capacity")
        problem = _problem(meta, offered)
        if problem:
            self._warn(f"Node {name}: {problem}; it is neither source nor target")
        else:
            self._warn_of_oddities(name, offered, capacity)
        ready, _, _ = pod_conditions(status.conditions)
        return Node(
            name=name,
            uid=meta.uid or "",
            allocatable=resources(offered.items()),
            capacity=resources(capacity.items()),
            labels=self._shared.labels(meta),
            annotations=self._shared.annotations(meta),
            taints=tuple(Taint(item.key, item.value or "", item.effect) for item in spec.taints or ()),
            is_unschedulable=bool(spec.unschedulable),
            is_ready=ready is None or ready.status == "True",
            images=tuple(self._names_and_sizes(status.images or ())),
            created_at=self._time(meta.creation_timestamp, "metadata.creationTimestamp", name),
            deletion_at=self._time(meta.deletion_timestamp, "metadata.deletionTimestamp", name)
            or (0.0 if meta.deletion_timestamp else None),
            problem=problem,
            addresses=tuple((item.type or "", item.address) for item in status.addresses or () if item.address),
        )

    def _warn_of_oddities(self, name: str, offered: Mapping[str, int], capacity: Mapping[str, int]) -> None:
        """What does not keep a node from being used: kube-scheduler looks at ``allocatable`` alone."""
        if not offered.get(PODS):
            self._warn(f"Node {name}: status.allocatable.pods is missing or 0; no further pod fits on it")
        larger = [resource for resource, amount in offered.items() if amount > capacity.get(resource, amount)]
        if larger:
            self._warn(
                f"Node {name}: status.allocatable.{larger[0]} is more than status.capacity.{larger[0]}; "
                "what is allocatable counts, as for kube-scheduler"
            )
        most = [resource for resource, amount in offered.items() if amount == LARGEST_AMOUNT]
        if most:
            self._warn(
                f"Node {name}: status.allocatable.{most[0]} counts as {LARGEST_AMOUNT}, the most that is counted"
            )

    def _names_and_sizes(self, images: Iterable[Raw]) -> Iterable[tuple[str, int]]:
        for number, image in enumerate(images):
            text = bytes(image)
            found = self._images.get(text)
            if found is None:
                if len(self._images) >= _LARGEST_CACHE:
                    self._images.clear()
                decoded = decode(text, ContainerImage, f"status.images[{number}]")
                size = min(max(decoded.size_bytes or 0, 0), LARGEST_AMOUNT)
                found = tuple((sys.intern(name), size) for name in decoded.names or ())
                self._images[text] = found
            yield from found

    def _time(self, text: str | None, path: str, name: str) -> float | None:
        found = read_time(text) if text else None
        if text and found is None:
            self._warn(f"Node {name}: {path}: {text[:40]!r} is no time; its age counts as unknown")
        return found


def _problem(meta: ObjectMeta, offered: Mapping[str, int]) -> str | None:
    """Why a node cannot be used although it could be read."""
    if not is_plain(meta.name or ""):
        return "its name holds characters that no name has"
    if not offered:
        return "status.allocatable is missing"
    if not offered.get(CPU) and not offered.get(MEMORY):
        return "status.allocatable offers neither cpu nor memory"
    return None
