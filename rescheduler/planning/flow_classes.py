"""Classes of pods and groups of nodes that a linear programme tells apart, fewer than there are pods and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.planning.problem import Problem

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
