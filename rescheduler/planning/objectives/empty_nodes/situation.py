"""What stands on which node, which nodes could be emptied at all, and what limits leave: facts that do not change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec.structs import replace as with_changes

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.harm import harmful_departures
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import moved_already, remaining_limits


def belongs_to_its_node(columns: Columns) -> BoolArray:
    """Pods that are there because of their node, bool[P]: of a DaemonSet, or made by the kubelet."""
    pods = columns.cluster.pods
    return np.fromiter((pod.belongs_to_its_node for pod in pods), np.bool_, len(pods))


class EmptyingSituation:
    """The question as arrays over nodes (N) and movable pods (M).

    ``counts``: bool[P], pods that keep a node from being empty; ``pods_on``: int64[N], how many of them there are;
    ``could_be_emptied``: bool[N], all of them may move and no limit forbids it; ``is_empty``: bool[N], empty at the
    start and worth keeping so. ``price``: float64[N], what a node that is emptied is worth.
    """

    def __init__(
        self,
        request: PlanRequest,
        price: FloatArray | None = None,
        is_selected: BoolArray | None = None,
        most_nodes: int | None = None,
        money: str = "",
    ) -> None:
        """Gather the arrays; O(pods + nodes).

        ``price``: float64[N], what a node costs, not negative (None: 1 each, which counts nodes); ``is_selected``:
        bool[N], nodes that may be emptied (None: all); ``most_nodes``: so many at most (None: all); ``money``: the
        unit of prices that are money. Pods that are not where the snapshot has them stay. Raises ValueError where
        prices are negative or not one for each node.
        """
        self.money = money
        start = self.start = request.placement
        self.most_nodes = request.prediction.columns.node_count if most_nodes is None else most_nodes
        self.columns = request.prediction.columns
        self.limits = remaining_limits(request.eligibility.limits, start)
        placed = start.node_of != NOWHERE
        self.counts: BoolArray = placed & ~self.columns.facts(belongs_to_its_node)
        is_movable = np.zeros(len(placed), dtype=np.bool_)
        is_movable[list(request.eligibility.movable)] = True
        is_movable[moved_already(start)] = False
        movable = np.flatnonzero(is_movable & self.counts)
        self.eligibility = with_changes(
            request.eligibility, movable=tuple(movable.tolist()), helpable=(), limits=self.limits.as_move_limits()
        )
        self.problem = Problem(request.prediction, start, self.eligibility)
        self.price = _checked(price, self.columns.node_count)
        self.is_source = _is_source(self.columns.cluster.nodes, is_selected) & (self.price > 0)
        self.pods_on: IntArray = self._on_each(start.node_of[self.counts])
        self.movable_on: IntArray = self._on_each(self.problem.origin)
        self.is_empty: BoolArray = self.is_source & (self.pods_on == 0)
        self.could_be_emptied: BoolArray = (
            self.is_source & (self.pods_on > 0) & (self.pods_on == self.movable_on) & self._is_within_limits()
        )

    @property
    def node_count(self) -> int:
        """N."""
        return self.problem.node_count

    @cached_property
    def candidates(self) -> IntArray:
        """Nodes that could be emptied, ascending."""
        return np.flatnonzero(self.could_be_emptied)

    @cached_property
    def load(self) -> IntArray:
        """What the pods that keep a node from being empty ask for where they would go, int64[R, N]."""
        pods = np.flatnonzero(self.counts)
        load = np.zeros_like(self.problem.free)
        for row, requests in enumerate(self.problem.requested(pods)):
            np.add.at(load[row], self.start.node_of[pods], requests)
        return load

    @cached_property
    def harmful(self) -> IntArray:
        """Movable pods whose departure could leave others' spread or affinity worse."""
        return np.flatnonzero(harmful_departures(self.problem))

    @cached_property
    def harm(self) -> IntArray:
        """How many such pods each node has, int64[N]."""
        return self._on_each(self.start.node_of[self.harmful])

    @cached_property
    def rows_on(self) -> tuple[IntArray, ...]:
        """Rows of the movable pods on each node."""
        order = np.argsort(self.problem.origin, kind="stable")
        return tuple(np.split(order, np.cumsum(self.movable_on)[:-1]))

    @cached_property
    def is_entangled_row(self) -> BoolArray:
        """Movable pods whose place depends on others' places, bool[M]."""
        problem, columns = self.problem, self.columns
        kinds = columns.shape_of[problem.movable].astype(np.int64) * len(columns.label_sets)
        kinds += columns.label_set_of[problem.movable]
        _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
        pods = problem.movable[first].tolist()
        found = np.array([problem.is_entangled(pod) for pod in pods], dtype=np.bool_)[kind.reshape(-1)]
        found[problem.rows_with_volumes] = True
        return found

    @cached_property
    def namespaces_on(self) -> dict[str, IntArray]:
        """Movable pods of each namespace with fewer evictions left than pods, on each node, int64[N]."""
        if self.limits.of_namespace is None:
            return {}
        pods = self.columns.cluster.pods
        names = np.array([pods[pod].namespace for pod in self.problem.movable.tolist()], dtype=object)
        found = {}
        for name in sorted(set(names.tolist())):
            number = self._on_each(self.problem.origin[names == name])
            if number.sum() > self.limits.of(name):
                found[name] = number
        return found

    def worth(self, emptied: IntArray, used: IntArray) -> float:
        """Price of ``emptied`` nodes less that of ``used`` ones that were empty."""
        return float(self.price[emptied].sum() - self.price[used].sum())

    def _on_each(self, nodes: IndexArray | IntArray) -> IntArray:
        found: IntArray = np.bincount(nodes, minlength=self.problem.node_count).astype(np.int64)
        return found

    def _is_within_limits(self) -> BoolArray:
        allowed: BoolArray = self.pods_on <= np.minimum(self.limits.of_node, self.limits.in_all)
        for name, number in self.namespaces_on.items():
            allowed &= number <= self.limits.of(name)
        return allowed


def _checked(found: FloatArray | None, nodes: int) -> FloatArray:
    price = np.ones(nodes) if found is None else np.asarray(found, dtype=np.float64)
    if price.shape != (nodes,) or not np.isfinite(price).all() or (price < 0).any():
        raise ValueError(f"price: wanted {nodes} finite numbers, none negative; found shape {price.shape}, {price}")
    return price


def _is_source(nodes: Sequence[Node], is_selected: BoolArray | None) -> BoolArray:
    is_usable = np.fromiter((not node.is_virtual and node.problem is None for node in nodes), np.bool_, len(nodes))
    return is_usable if is_selected is None else is_usable & is_selected
