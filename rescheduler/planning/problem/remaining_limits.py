"""What the limits of the plan leave after the moves of earlier objectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import LIMIT_NAMES, MoveLimits

UNLIMITED = 2**40


@dataclass(frozen=True)
class RemainingLimits:
    """Evictions that are left: in all, from each node (int64[N]), and from each namespace (None: no such limit).

    A namespace that is not named has ``of_other_namespaces`` left. ``names``: see MoveLimits.
    """

    in_all: int
    of_node: IntArray
    of_namespace: Mapping[str, int] | None
    of_other_namespaces: int
    names: tuple[str, str, str] = LIMIT_NAMES

    def of(self, namespace: str) -> int:
        """Evictions left in one namespace."""
        return UNLIMITED if self.of_namespace is None else self.of_namespace.get(namespace, self.of_other_namespaces)

    def as_move_limits(self) -> MoveLimits:
        """The limits that hold everywhere, for what knows no others; nodes and namespaces already used have less."""
        usual = int(self.of_node.max(initial=0))
        return MoveLimits(
            self.in_all if self.in_all < UNLIMITED else None,
            usual if usual < UNLIMITED else None,
            None if self.of_namespace is None else self.of_other_namespaces,
            self.names,
        )


def whole_limits(limits: MoveLimits, node_count: int) -> RemainingLimits:
    """Limits of which nothing has been used."""
    caps = (limits.max_evictions, limits.max_evictions_per_node, limits.max_evictions_per_namespace)
    in_all, per_node, per_namespace = (UNLIMITED if cap is None else cap for cap in caps)
    of_namespace = None if limits.max_evictions_per_namespace is None else dict[str, int]()
    of_node = np.full(node_count, per_node, dtype=np.int64)
    return RemainingLimits(in_all, of_node, of_namespace, per_namespace, limits.names)


def moved_already(start: Placement) -> IntArray:
    """Pods that are not where the snapshot has them, ascending; such as had no place then are none of them."""
    initial = start.columns.initial_node_of
    moved: IntArray = np.flatnonzero((initial != NOWHERE) & (start.node_of != initial))
    return moved


def remaining_limits(limits: MoveLimits, start: Placement) -> RemainingLimits:
    """Take off what earlier moves have used."""
    columns = start.columns
    moved = moved_already(start)
    per_node, per_namespace = limits.max_evictions_per_node, limits.max_evictions_per_namespace
    used_on = np.bincount(columns.initial_node_of[moved], minlength=columns.node_count)
    of_node = np.full(columns.node_count, UNLIMITED, dtype=np.int64)
    if per_node is not None:
        of_node = np.maximum(0, per_node - used_on)
    of_namespace: dict[str, int] | None = None
    if per_namespace is not None:
        of_namespace = {}
        for pod in moved.tolist():
            name = columns.cluster.pods[pod].namespace
            of_namespace[name] = max(0, of_namespace.get(name, per_namespace) - 1)
    in_all = UNLIMITED if limits.max_evictions is None else max(0, limits.max_evictions - len(moved))
    of_others = UNLIMITED if per_namespace is None else per_namespace
    return RemainingLimits(in_all, of_node, of_namespace, of_others, limits.names)
