"""A linear programme that can prove: however all movable pods were rearranged, not all pending pods would fit.

Classes of pods flow to groups of nodes; requests are rounded down to a grid and limits, orders and other filters left
out, so its optimum is a ceiling for every plan. Solved by HiGHS through SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.resources import format_amount
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.problem import Problem

GRID = 1.2
MOST_EXACT_CLASSES = 300
MOST_SINGLE_NODES = 64
MOST_MASKS = 24
_NOISE = 1e-6
ENDLESS = 2**20


@dataclass(frozen=True)
class Certificate:
    """``at_most``: ceiling, as solved, of the pending pods that any rearrangement helps; ``facts`` for users."""

    at_most: float
    facts: dict[str, Any]

    @property
    def helpable(self) -> int:
        """The ceiling as a whole number."""
        return int(np.floor(self.at_most + _NOISE))


@dataclass(frozen=True)
class _Classes:
    """Requests float[C, R], how many pods, and which masks (rows of bool[masks, N]) they go by."""

    requests: IntArray
    counts: IntArray
    masks: IntArray


@dataclass(frozen=True)
class _NodeGroups:
    """Group of each node int[N], and per group its nodes, total room int[G, R] and largest room of a node int[G, R]."""

    of: IntArray
    sizes: IntArray
    room: IntArray
    largest: IntArray


def certify(problem: Problem, deadline: Deadline) -> Certificate | None:
    """Solve the programme; None if it could not be solved in time."""
    masks, mask_of_row, mask_of_pending = _masks(problem)
    room = np.maximum(problem.free, 0)
    np.add.at(room.T, problem.origin, problem.held.T)
    rows = np.flatnonzero((problem.requests.any(axis=1)) | _pending_requests(problem).any(axis=0))
    room = room[rows]
    groups = _node_groups(problem, masks, room)
    movable = _movable_classes(problem, rows, mask_of_row)
    ones = np.ones(len(mask_of_pending), dtype=np.int64)
    pending = _classes(_pending_requests(problem)[:, rows], mask_of_pending, ones, is_exact=True)
    solution = _solve(movable, pending, groups, masks, room, deadline)
    if solution is None:
        return None
    at_most, binding = solution
    return Certificate(at_most, _facts(problem, at_most, binding, rows, groups))


def _movable_classes(problem: Problem, rows: IntArray, mask_of_row: IntArray) -> _Classes:
    """Classes of the movable pods; a pod that holds less than it asks for (a resize) counts with what it holds."""
    asked = np.minimum(problem.requests, problem.held)[rows]
    shapes = problem.columns.shape_of[problem.movable].astype(np.int64)
    is_odd = (asked < problem.requests[rows]).any(axis=0)
    shapes[is_odd] = len(problem.columns.shapes) + np.flatnonzero(is_odd)
    key = shapes * (int(mask_of_row.max(initial=0)) + 1) + mask_of_row
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return _classes(asked[:, first].T, mask_of_row[first], counts)


def _pending_requests(problem: Problem) -> IntArray:
    return np.array([problem.request_of(pod) for pod in problem.pending])


def _masks(problem: Problem) -> tuple[BoolArray, IntArray, IntArray]:
    """Distinct masks bool[masks, N], the last one open to all; the many rare ones of volumes count as open to all."""
    numbers = problem.mask_numbers
    pending = np.array([problem.static_mask(pod)[0] for pod in problem.pending])
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


def _node_groups(problem: Problem, masks: BoolArray, room: IntArray) -> _NodeGroups:
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
    return _NodeGroups(of, np.bincount(of, minlength=count), total, largest)


def _classes(requests: IntArray, masks: IntArray, counts: IntArray, *, is_exact: bool = False) -> _Classes:
    """Merge equal requests; where there are many distinct ones, round them down to a geometric grid first."""
    if len(requests) > MOST_EXACT_CLASSES and not is_exact:
        steps = np.floor(np.log(np.maximum(requests, 1)) / np.log(GRID) + _NOISE)
        requests = np.where(requests > 0, np.minimum(requests, np.floor(GRID**steps)), 0).astype(np.int64)
    keyed = np.column_stack([masks, requests])
    values, number = np.unique(keyed, axis=0, return_inverse=True)
    return _Classes(values[:, 1:], np.bincount(number.reshape(-1), weights=counts).astype(np.int64), values[:, 0])


def _solve(
    movable: _Classes, pending: _Classes, groups: _NodeGroups, masks: BoolArray, room: IntArray, deadline: Deadline
) -> tuple[float, dict[tuple[int, int], float]] | None:
    """Maximum of helped pods, and the weight of each (group, resource row) that binds."""
    requests = np.vstack([movable.requests, pending.requests])
    counts = np.concatenate([movable.counts, pending.counts])
    mask_of = np.concatenate([movable.masks, pending.masks])
    hosts = _hosts(requests, mask_of, groups, masks, room, len(movable.counts))
    kind, group = np.nonzero(hosts)
    if not len(kind):
        return (0.0, {}) if not len(movable.counts) else None
    first_pending = len(movable.counts)
    is_pending = kind >= first_pending
    scale = np.maximum(1, groups.room.max(axis=0, initial=1))
    number = np.arange(len(kind))
    size = (len(groups.sizes), requests.shape[1])
    capacity = coo_array(
        (
            (requests / scale)[kind].ravel(),
            ((group[:, None] * size[1] + np.arange(size[1])).ravel(), np.repeat(number, size[1])),
        ),
        shape=(size[0] * size[1], len(kind)),
    )
    big, big_limits = _one_per_node(requests, kind, group, groups)
    per_class = coo_array((np.ones(len(kind)), (kind, number)), shape=(len(counts), len(kind))).tocsr()
    answer = linprog(
        -is_pending.astype(float),
        A_ub=vstack([capacity, per_class[first_pending:], big]).tocsr(),
        b_ub=np.concatenate([(groups.room / scale).ravel(), pending.counts, big_limits]),
        A_eq=per_class[:first_pending] if first_pending else None,
        b_eq=movable.counts if first_pending else None,
        bounds=np.column_stack([np.zeros(len(kind)), np.where(is_pending, hosts[kind, group], np.inf)]),
        method="highs",
        options={"time_limit": max(0.01, deadline.remaining())},
    )
    if answer.status != 0:
        return None
    weights = -np.asarray(answer.ineqlin.marginals)[: size[0] * size[1]]
    binding = {divmod(int(place), size[1]): float(weights[place]) for place in np.argsort(-weights)[:8]}
    return float(-answer.fun), {place: weight for place, weight in binding.items() if weight > _NOISE}


def _hosts(
    requests: IntArray, mask_of: IntArray, groups: _NodeGroups, masks: BoolArray, room: IntArray, first_pending: int
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
    requests: IntArray, kind: IntArray, group: IntArray, groups: _NodeGroups
) -> tuple[coo_array, np.ndarray[tuple[int], np.dtype[np.float64]]]:
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
        return coo_array((0, len(kind))), np.zeros(0)
    where = (np.concatenate(lines), np.concatenate(columns))
    return coo_array((np.ones(len(where[0])), where), shape=(len(limits), len(kind))), np.array(limits)


def _facts(
    problem: Problem, at_most: float, binding: dict[tuple[int, int], float], rows: IntArray, groups: _NodeGroups
) -> dict[str, Any]:
    names = problem.columns.resources
    asked = _pending_requests(problem).sum(axis=0)
    free = np.maximum(problem.free, 0).sum(axis=1)
    return {
        "kind": "LinearProgramme",
        "meaning": "no rearrangement of the movable pods, in any order and of any size, helps more pending pods",
        "atMost": round(at_most, 4),
        "wanted": len(problem.pending),
        "nodes": problem.node_count,
        "movablePods": len(problem.movable),
        "asked": {names[row]: format_amount(names[row], int(asked[row])) for row in rows if asked[row]},
        "free": {names[row]: format_amount(names[row], int(free[row])) for row in rows if asked[row]},
        "scarce": [
            {"resource": names[rows[row]], "nodes": int(groups.sizes[group]), "weight": round(weight, 6)}
            for (group, row), weight in sorted(binding.items(), key=lambda item: -item[1])
        ],
    }
