"""The shapes of pods that room is wanted for, as arrays, and how often each would fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.objects.resources import PODS, Resources, format_amount
from rescheduler.model.usage.usage import FloatArray
from rescheduler.scheduling.filters.node_ready import why_unusable

WeightedShape = tuple[Resources, float]
"""What one pod of the shape requests, and what one more of them is worth."""


class WantedShapes:
    """S shapes over the nodes (N) and resources (R) of one cluster; each is counted as if it were alone.

    ``amounts``: int64[S, R], one pod counted; ``weights``: float64[S]; ``is_usable``: bool[S, N], nodes that a plain
    pod of the shape may be put on: ready, not cordoned, without a taint that bans it. A taint that bears the name of
    an extended resource which the shape asks for is tolerated, as Kubernetes' ExtendedResourceToleration has it.
    ``tainted``: int64[S], nodes that would do but for their taints. A shape with a resource that no node knows fits
    nowhere.
    """

    def __init__(self, columns: Columns, shapes: Sequence[WeightedShape]) -> None:
        """Resolve the shapes against the cluster's resources."""
        self.requests = tuple(amounts for amounts, _ in shapes)
        self.weights: FloatArray = np.array([weight for _, weight in shapes], dtype=np.float64)
        self.amounts: IntArray = np.array(
            [columns.vector(amounts) for amounts in self.requests], dtype=np.int64
        ).reshape(len(shapes), len(columns.resources))
        self.asked = tuple(np.flatnonzero(amounts > 0) for amounts in self.amounts)
        is_open = _open_nodes(columns)
        self.is_usable: BoolArray = np.zeros((len(shapes), columns.node_count), dtype=np.bool_)
        self.tainted: IntArray = np.zeros(len(shapes), dtype=np.int64)
        for number, amounts in enumerate(self.requests):
            if any(name not in columns.resource_index for name, _ in amounts):
                continue
            banned = columns.taint_table.untolerated(_tolerations(amounts))
            self.is_usable[number] = is_open & ~banned
            self.tainted[number] = (is_open & banned & _offers(columns, amounts)).sum()

    def __len__(self) -> int:
        """S."""
        return len(self.requests)

    @property
    def names(self) -> tuple[str, ...]:
        """Each shape for people, such as ``cpu 16, memory 64Gi``."""
        return tuple(shape_name(amounts) for amounts in self.requests)

    @property
    def is_counted(self) -> bool:
        """Whether each shape weighs 1, so that the value is a number of pods."""
        return bool((self.weights == 1).all())

    def often(self, room: IntArray, nodes: IntArray | None = None) -> IntArray:
        """How often each shape fits into room (int64[R, n]) on these nodes (None: all), int64[S, n]."""
        count = np.zeros((len(self), room.shape[1]), dtype=np.int64)
        for number, asked in enumerate(self.asked):
            usable = self.is_usable[number] if nodes is None else self.is_usable[number, nodes]
            if usable.any():
                often = (room[asked] // self.amounts[number, asked][:, None]).min(axis=0).clip(min=0)
                count[number] = np.where(usable, often, 0)
        return count

    def worth(self, room: IntArray, nodes: IntArray | None = None) -> FloatArray:
        """Weighted number of all shapes, float64[n]."""
        found: FloatArray = self.weights @ self.often(room, nodes)
        return found

    def needed(self, often: IntArray) -> IntArray:
        """Room (int64[R, n]) that lets each shape fit so often (int64[S, n]) when it is alone."""
        need = np.zeros((self.amounts.shape[1], often.shape[1]), dtype=np.int64)
        for amounts, count in zip(self.amounts, often, strict=True):
            np.maximum(need, amounts[:, None] * count[None], out=need)
        return need


def shape_name(amounts: Resources) -> str:
    """A shape for people."""
    return ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in amounts if name != PODS) or "any pod"


def _tolerations(amounts: Resources) -> tuple[Toleration, ...]:
    return tuple(Toleration(name, "Exists") for name, _ in amounts if "/" in name)


def _open_nodes(columns: Columns) -> BoolArray:
    nodes = columns.cluster.nodes
    return np.fromiter(
        (why_unusable(node) is None and not node.is_unschedulable for node in nodes), np.bool_, len(nodes)
    )


def _offers(columns: Columns, amounts: Resources) -> BoolArray:
    """Nodes that are large enough for the shape when they are empty."""
    return np.asarray((columns.allocatable >= columns.vector(amounts)[:, None]).all(axis=0))
