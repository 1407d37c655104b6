"""Fields of a Node."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from rescheduler.adapters.kubernetes.decoding.metadata import Condition, Decoded, ObjectMeta


class TaintObject(Decoded):
    """One taint."""

    key: str
    effect: str
    value: str | None = None


class NodeSpecObject(Decoded):
    """Whether pods may be put on the node."""

    unschedulable: bool | None = None
    taints: list[TaintObject] | None = None


class ContainerImage(Decoded):
    """An image that a node has, under all its names."""

    names: list[str] | None = None
    size_bytes: int | None = None


class NodeAddress(Decoded):
    """One address of a node."""

    type: str | None = None
    address: str | None = None


class NodeStatusObject(Decoded):
    """What the node offers. ``images`` repeat from node to node."""

    allocatable: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None
    conditions: list[Condition] | None = None
    images: list[Raw] | None = None
    addresses: list[NodeAddress] | None = None


class NodeObject(Decoded):
    """A Node."""

    metadata: ObjectMeta | None = None
    spec: NodeSpecObject | None = None
    status: NodeStatusObject | None = None
