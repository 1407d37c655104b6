"""Pods that may arrive where room is scarce, in classes: the pending ones, and movable ones for which there is little.

A class of movable pods counts with the most that its pods ask for where a plan is made of it, with the least for a
bound. All other movable pods are taken to find a place for nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.problem import Problem

MOST_NODES = 1000


class Fineness(NamedTuple):
    """Pods are hard to place that find room on fewer than ``holes`` nodes; a class spans a factor of ``ratio``."""

    holes: int
    ratio: float


@dataclass(frozen=True, eq=False)
class ArrivingClasses:
    """C classes, those of pending pods (``members``, in front) and of hard movable pods.

    ``asked``: int64[C, R]; ``of_row``: class of each movable pod int64[M], -1 for those that are not hard;
    ``nodes``: where pending pods may arrive at all, which hard pods may not leave; ``open_to``: bool[C, nodes], which
    of those are open to a class; ``scarce``: the one or two rows of resources that count most.
    """

    members: tuple[tuple[int, ...], ...]
    asked: IntArray
    of_row: IntArray
    nodes: IntArray
    open_to: BoolArray
    scarce: IntArray


def arriving_classes(
    problem: Problem, fineness: Fineness, hard_too: BoolArray | None = None, *, is_bound: bool
) -> ArrivingClasses | None:
    """The classes; None where there are too many nodes, or nothing that pending pods ask for is scarce.

    ``hard_too``: movable pods that count as hard as well.
    """
    if problem.node_count > MOST_NODES or not problem.pending:
        return None
    members: dict[Hashable, list[int]] = {}
    inside = np.zeros(problem.node_count, dtype=np.bool_)
    for pod in problem.pending:
        number, mask = problem.static_mask(pod)
        inside |= mask
        asked_for = problem.request_of(pod).tobytes()
        members.setdefault((problem.pending_groups.priority(pod), number, asked_for), []).append(pod)
    pending = np.array([problem.request_of(pods[0]) for pods in members.values()], dtype=np.int64)
    scarce = _scarce(problem, inside, pending)
    if not len(scarce) or not inside.any():
        return None
    may = _confined(problem, inside) & (problem.requests[scarce] > 0).all(axis=0)
    hard = _holes(problem, may, fineness.holes)
    if hard_too is not None:
        hard |= may & hard_too
    of_row, sizes, masks = _by_size(problem, hard, scarce, fineness.ratio, is_bound=is_bound)
    of_row = np.where(of_row >= 0, of_row + len(members), -1)
    groups = tuple(map(tuple, members.values()))
    nodes = np.flatnonzero(inside)
    open_to = np.array([*(problem.static_mask(pods[0])[1] for pods in groups), *(problem.masks[n] for n in masks)])
    return ArrivingClasses(groups, np.vstack([pending, sizes]), of_row, nodes, open_to[:, nodes], scarce)


def _scarce(problem: Problem, inside: BoolArray, pending: IntArray) -> IntArray:
    """Rows that every pending pod asks for: the two of which they ask most, as a share of what is free."""
    free = np.maximum(problem.free[:, inside], 0).sum(axis=1)
    share = pending.sum(axis=0) / np.maximum(1, free)
    share[(pending <= 0).any(axis=0)] = 0.0
    order = np.argsort(-share, kind="stable")[:2]
    return np.asarray(order[share[order] > 0])


def _confined(problem: Problem, inside: BoolArray) -> BoolArray:
    """Movable pods that may arrive on no other nodes, bool[M]."""
    numbers = problem.mask_numbers
    confined = np.array([not (mask & ~inside).any() for mask in problem.masks], dtype=np.bool_)
    return np.asarray(confined[numbers])


def _holes(problem: Problem, rows: BoolArray, most: int) -> BoolArray:
    """Which of some movable pods find room on fewer than ``most`` nodes as things stand, bool[M]."""
    answer = np.zeros(len(rows), dtype=np.bool_)
    numbers = np.flatnonzero(rows)
    key = np.stack([problem.columns.shape_of[problem.movable[numbers]], problem.mask_numbers[numbers]])
    _, first, kind = np.unique(key, axis=1, return_index=True, return_inverse=True)
    found = [
        int((fits(problem.requests[:, row], problem.free) & problem.masks[problem.mask_numbers[row]]).sum()) < most
        for row in numbers[first].tolist()
    ]
    answer[numbers] = np.array(found, dtype=np.bool_)[kind.reshape(-1)]
    return answer


def _by_size(
    problem: Problem, hard: BoolArray, scarce: IntArray, ratio: float, *, is_bound: bool
) -> tuple[IntArray, IntArray, list[int]]:
    """Class of each movable pod (-1: none); what each class asks for, int64[classes, R]; the number of its mask."""
    requests, numbers = problem.requests, problem.mask_numbers
    of_row = np.full(len(hard), -1, dtype=np.int64)
    rows = np.flatnonzero(hard)
    steps = np.floor(np.log(requests[np.ix_(scarce, rows)]) / np.log(ratio)).astype(np.int64)
    kinds, kind = np.unique(np.vstack([numbers[rows], steps]), axis=1, return_inverse=True)
    of_row[rows] = kind.reshape(-1)
    merged = np.min if is_bound else np.max
    sizes = [merged(requests[:, of_row == number], axis=1) for number in range(kinds.shape[1])]
    return of_row, np.array(sizes, dtype=np.int64).reshape(-1, len(requests)), kinds[0].tolist()
