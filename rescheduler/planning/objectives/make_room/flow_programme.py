"""A linear programme over classes of pods and groups of nodes, in which pods may be split and order does not count.

Classes of pods flow to groups of nodes; requests are rounded down to a grid and limits, orders and other filters left
out, so what it cannot do no plan can. Solved by HiGHS through SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.solvers.highs import Linear

# Classes of pods and groups of nodes that a linear programme tells apart, fewer than there are pods and nodes.

GRID = 1.2
MOST_EXACT_CLASSES = 300
MOST_SINGLE_NODES = 64
MOST_MASKS = 24
NOISE = 1e-6


@dataclass(frozen=True)
class Classes:
    """Requests float[C, R], how many pods, and which masks (rows of bool[masks, N]) they go by."""

    requests: IntArray
    counts: IntArray
    masks: IntArray


@dataclass(frozen=True)
class NodeGroups:
    """Group of each node int[N], and per group its nodes, total room int[G, R] and largest room of a node int[G, R]."""

    of: IntArray
    sizes: IntArray
    room: IntArray
    largest: IntArray


def movable_classes(problem: Problem, rows: IntArray, mask_of_row: IntArray) -> Classes:
    """Classes of the movable pods; a pod that holds less than it asks for (a resize) counts with what it holds."""
    asked = np.minimum(problem.requests, problem.held)[rows]
    shapes = problem.columns.shape_of[problem.movable].astype(np.int64)
    is_odd = (asked < problem.requests[rows]).any(axis=0)
    shapes[is_odd] = len(problem.columns.shapes) + np.flatnonzero(is_odd)
    key = shapes * (int(mask_of_row.max(initial=0)) + 1) + mask_of_row
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return classes_of(asked[:, first].T, mask_of_row[first], counts)


def masks_of(problem: Problem, waiting: Sequence[int]) -> tuple[BoolArray, IntArray, IntArray]:
    """Distinct masks bool[masks, N], the last one open to all; the many rare ones of volumes count as open to all."""
    numbers = problem.mask_numbers
    pending = np.array([problem.static_mask(pod)[0] for pod in waiting], dtype=np.int64)
    frequent = np.unique(pending).tolist()
    values, counts = np.unique(numbers, return_counts=True)
    for number in values[np.argsort(-counts, kind="stable")].tolist():
        if number not in frequent and len(frequent) < MOST_MASKS:
            frequent.append(number)
    position = np.full(len(problem.masks), len(frequent), dtype=np.int64)
    position[frequent] = np.arange(len(frequent))
    table = np.array([*(problem.masks[number] for number in frequent), np.ones(problem.node_count, dtype=np.bool_)])
    of_row = position[numbers]
    of_row[~table[of_row, problem.origin]] = len(frequent)  # a pod may stay where it could not arrive any more
    return table, of_row, position[pending]


def node_groups(problem: Problem, masks: BoolArray, room: IntArray) -> NodeGroups:
    """Nodes with equal masks and allocatable as one; in small clusters each node alone."""
    if problem.node_count <= MOST_SINGLE_NODES:
        of = np.arange(problem.node_count)
    else:
        signature = np.column_stack([masks.T, problem.columns.allocatable.T])
        _, of = np.unique(signature, axis=0, return_inverse=True)
        of = of.reshape(-1)
    count = int(of.max(initial=-1)) + 1
    total = np.zeros((count, len(room)), dtype=np.int64)
    largest = np.zeros_like(total)
    np.add.at(total, of, room.T)
    np.maximum.at(largest, of, room.T)
    return NodeGroups(of, np.bincount(of, minlength=count), total, largest)


def classes_of(requests: IntArray, masks: IntArray, counts: IntArray, *, is_exact: bool = False) -> Classes:
    """Merge equal requests; where there are many distinct ones, round them down to a geometric grid first."""
    if len(requests) > MOST_EXACT_CLASSES and not is_exact:
        steps = np.floor(np.log(np.maximum(requests, 1)) / np.log(GRID) + NOISE)
        requests = np.where(requests > 0, np.minimum(requests, np.floor(GRID**steps)), 0).astype(np.int64)
    keyed = np.column_stack([masks, requests])
    values, number = np.unique(keyed, axis=0, return_inverse=True)
    return Classes(values[:, 1:], np.bincount(number.reshape(-1), weights=counts).astype(np.int64), values[:, 0])


ENDLESS = 2**20


class FlowProgramme:
    """The programme of one problem: all movable pods somewhere, and as many pending ones as can be.

    ``rows``: resources that count; ``groups``: nodes that are alike, with what they hold without movable pods.
    """

    def __init__(self, problem: Problem, pending: Sequence[int] | None = None) -> None:
        """``pending``: only these pods wait (None: all that are to be helped)."""
        waiting = problem.pending if pending is None else tuple(pending)
        self._masks, mask_of_row, mask_of_pending = masks_of(problem, waiting)
        asked = requests_of(problem, waiting)
        self.rows = np.flatnonzero((problem.requests.any(axis=1)) | asked.any(axis=0))
        room = np.maximum(problem.free, 0)
        np.add.at(room.T, problem.origin, problem.held.T)
        self._room = room[self.rows]
        self.groups = node_groups(problem, self._masks, self._room)
        movable = movable_classes(problem, self.rows, mask_of_row)
        ones = np.ones(len(mask_of_pending), dtype=np.int64)
        self._pending = classes_of(asked[:, self.rows], mask_of_pending, ones, is_exact=True)
        self._movable = movable
        self._requests = np.vstack([movable.requests, self._pending.requests])
        self._mask_of = np.concatenate([movable.masks, self._pending.masks])
        self._hosts = _hosts(self._requests, self._mask_of, self.groups, self._masks, self._room, len(movable.counts))
        self._scale = np.maximum(1, self.groups.room.max(axis=0, initial=1))

    def most_helped(self, deadline: Deadline) -> tuple[float, dict[tuple[int, int], float]] | None:
        """Most pending pods that fit, and the weight of each (group, resource row) that binds; None: not solved."""
        kind, group = np.nonzero(self._hosts)
        if not len(kind):
            return (0.0, {}) if not len(self._movable.counts) else None
        is_pending = kind >= len(self._movable.counts)
        capacity, limits = self._within_room(kind, group)
        answer = self._solved(kind, capacity, limits, -is_pending.astype(float), self._most(kind, group), deadline)
        if answer.status != 0:
            return None
        width = self._requests.shape[1]
        weights = -np.asarray(answer.ineqlin.marginals)[: len(self.groups.sizes) * width]
        binding = {divmod(int(place), width): float(weights[place]) for place in np.argsort(-weights)[:8]}
        return float(-answer.fun), {place: weight for place, weight in binding.items() if weight > NOISE}

    def fewest_added(self, room: IntArray, example: int, deadline: Deadline) -> float | None:
        """Fewest empty nodes with ``room`` (int64[R]) and the labels of ``example`` that let all pending pods fit."""
        kind, group = np.nonzero(self._hosts)
        offered = room[self.rows]
        fits = ((self._requests <= offered) | (self._requests == 0)).all(axis=1)
        newcomers = np.flatnonzero(fits & self._masks[self._mask_of, example])
        kinds = np.concatenate([kind, newcomers])
        capacity, limits = self._within_room(kind, group)
        added = self._on_added(newcomers, offered)
        lines = scipy.sparse.vstack(
            [
                _padded(capacity, added.shape[1]),
                scipy.sparse.hstack([scipy.sparse.csr_array((added.shape[0], len(kind))), added]),
            ]
        )
        most = np.concatenate([self._most(kind, group), np.full(len(newcomers) + 1, np.inf)])
        costs = np.zeros(len(kinds) + 1)
        costs[-1] = 1.0
        answer = self._solved(
            kinds,
            lines.tocsr(),
            np.concatenate([limits, np.zeros(added.shape[0])]),
            costs,
            most,
            deadline,
            helps_all=True,
        )
        return float(answer.fun) if answer.status == 0 else None

    def _solved(
        self,
        kind: IntArray,
        lines: scipy.sparse.csr_array,
        limits: FloatArray,
        costs: FloatArray,
        most: FloatArray,
        deadline: Deadline,
        *,
        helps_all: bool = False,
    ) -> scipy.optimize.OptimizeResult:
        """Minimise the costs of flows of these kinds (and of further variables behind them)."""
        counts = np.concatenate([self._movable.counts, self._pending.counts])
        per_kind = scipy.sparse.coo_array(
            (np.ones(len(kind)), (kind, np.arange(len(kind)))), shape=(len(counts), len(costs))
        ).tocsr()
        first = len(counts) if helps_all else len(self._movable.counts)
        programme = Linear(
            cost=costs,
            at_most=(
                scipy.sparse.vstack([lines, per_kind[first:]]).tocsr(),
                np.concatenate([limits, counts[first:]]),
            ),
            exactly=(per_kind[:first], counts[:first]) if first else None,
            bounds=np.column_stack([np.zeros(len(costs)), most]),
        )
        return programme.solved(deadline)

    def _most(self, kind: IntArray, group: IntArray) -> FloatArray:
        """Bounds of the flows: of pending pods no more than a group can host."""
        is_pending = kind >= len(self._movable.counts)
        return np.where(is_pending, self._hosts[kind, group].astype(float), np.inf)

    def _within_room(self, kind: IntArray, group: IntArray) -> tuple[scipy.sparse.csr_array, FloatArray]:
        """What the flows take of each group's room, and of nodes that can host one such pod only."""
        number, (groups, width) = np.arange(len(kind)), self.groups.room.shape
        places = (group[:, None] * width + np.arange(width)).ravel()
        amounts = (self._requests / self._scale)[kind].ravel()
        capacity = scipy.sparse.coo_array(
            (amounts, (places, np.repeat(number, width))), shape=(groups * width, len(kind))
        )
        big, big_limits = _one_per_node(self._requests, kind, group, self.groups)
        limits = np.concatenate([(self.groups.room / self._scale).ravel(), big_limits])
        return scipy.sparse.vstack([capacity, big]).tocsr(), limits

    def _on_added(self, newcomers: IntArray, offered: IntArray) -> scipy.sparse.csr_array:
        """The same for added nodes: one column for each newcomer, the last for the number of nodes."""
        asked = (self._requests[newcomers] / self._scale).T
        capacity = np.column_stack([asked, -offered / self._scale])
        big = np.column_stack([(2 * self._requests[newcomers] > offered).T, np.full(len(offered), -1.0)])
        return scipy.sparse.csr_array(np.vstack([capacity, big]))


def _padded(lines: scipy.sparse.csr_array, width: int) -> scipy.sparse.csr_array:
    """The same lines, of which further variables are no part."""
    return scipy.sparse.hstack([lines, scipy.sparse.csr_array((lines.shape[0], width))]).tocsr()


def requests_of(problem: Problem, pods: Sequence[int]) -> IntArray:
    """What pods ask for, int64[pods, R]."""
    asked = np.array([problem.request_of(pod) for pod in pods], dtype=np.int64)
    return asked.reshape(-1, len(problem.free))


def _hosts(
    requests: IntArray, mask_of: IntArray, groups: NodeGroups, masks: BoolArray, room: IntArray, first_pending: int
) -> IntArray:
    """Where pods of each class may be, int64[C, G], 0 for nowhere.

    For pending pods exactly how many the nodes of a group could host if they hosted nothing else.
    """
    hosts = np.zeros((len(requests), len(groups.sizes)), dtype=np.int64)
    of_group = np.zeros((len(masks), len(groups.sizes)), dtype=np.bool_)
    of_group[:, groups.of] = masks  # the nodes of a group share their masks
    fits = (requests[:, None, :] <= groups.largest[None]) | (requests[:, None, :] == 0)
    hosts[of_group[mask_of] & fits.all(axis=2)] = ENDLESS
    for number in range(first_pending, len(requests)):
        asked = np.flatnonzero(requests[number])
        each = (
            (room[asked] // requests[number, asked, None]).min(axis=0)
            if len(asked)
            else np.full(room.shape[1], ENDLESS)
        )
        exact = np.zeros(len(groups.sizes), dtype=np.int64)
        np.add.at(exact, groups.of, np.where(masks[mask_of[number]], np.minimum(each, ENDLESS), 0))
        hosts[number] = exact
    return hosts


def _one_per_node(
    requests: IntArray, kind: IntArray, group: IntArray, groups: NodeGroups
) -> tuple[scipy.sparse.coo_array, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Of pods that each take more than half of the largest node of a group, in one resource, a node hosts one."""
    lines: list[IntArray] = []
    columns: list[IntArray] = []
    limits: list[float] = []
    for row in range(requests.shape[1]):
        is_big = 2 * requests[kind, row] > groups.largest[group, row]
        for number in np.unique(group[is_big]).tolist():
            members = np.flatnonzero(is_big & (group == number))
            lines.append(np.full(len(members), len(limits)))
            columns.append(members)
            limits.append(float(groups.sizes[number]))
    if not limits:
        return scipy.sparse.coo_array((0, len(kind))), np.zeros(0)
    where = (np.concatenate(lines), np.concatenate(columns))
    return scipy.sparse.coo_array((np.ones(len(where[0])), where), shape=(len(limits), len(kind))), np.array(limits)
