"""The question with pods made divisible and rooms of like nodes put together: small, and no real plan is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.model.usage import FloatArray
from rescheduler.planning.empty_nodes.situation import Situation

_MOST_PAIRS = 12_000
_MOST_GROUPS = 240
_GRID = 1.2


@dataclass(frozen=True)
class Relaxation:
    """Shapes (S) of pods, groups (G) of nodes, and nodes whose emptiness is to be chosen (C).

    ``request``: int64[S, R], rounded down; ``pods``: int64[S]; ``open_to``: bool[S, G]; ``room``: float64[G, R], what
    the nodes of a group offer together; ``largest``: int64[G, R], the most that one of them offers; ``group_sizes``:
    int64[G], nodes of each. ``node``: int64[C]
    with ``group``: int64[C], ``capacity``: int64[C, R], ``price``: float64[C] and ``pods_on``: int64[C], 0 for nodes
    that are empty already. ``namespaces``: rows of int64[C] with a limit each. ``most_evictions``: as said.
    """

    request: IntArray
    pods: IntArray
    open_to: BoolArray
    room: FloatArray
    largest: IntArray
    group_sizes: IntArray
    node: IntArray
    group: IntArray
    capacity: IntArray
    price: FloatArray
    pods_on: IntArray
    namespaces: tuple[tuple[IntArray, int], ...]
    most_evictions: int


def relax(situation: Situation) -> Relaxation:
    """State the relaxation; amounts that pods hold where they are and ask for elsewhere count with the lesser."""
    problem = situation.problem
    amounts = np.minimum(problem.requests, problem.held).T
    capacity = np.maximum(problem.free, 0).T.copy()
    np.add.at(capacity, problem.origin, problem.held.T)
    used = np.flatnonzero(amounts.any(axis=0))
    amounts, capacity = amounts[:, used], capacity[:, used]
    group_of, openness = _groups(situation)
    first = np.unique(group_of, return_index=True)[1]
    home = group_of[problem.origin]
    mask_open = (
        openness[problem.mask_numbers] if len(problem.movable) else np.zeros((0, situation.node_count), np.bool_)
    )
    is_homeless = ~mask_open[np.arange(len(home)), problem.origin] if len(home) else np.zeros(0, np.bool_)
    request, pods, looks = _shapes(amounts, problem.mask_numbers, np.where(is_homeless, home, -1), len(first))
    open_to = openness[looks[:, 0]][:, first] if len(looks) else np.zeros((0, len(first)), np.bool_)
    stays = np.flatnonzero(looks[:, 1] >= 0) if len(looks) else np.zeros(0, np.int64)
    open_to[stays, looks[stays, 1]] = True
    node = np.flatnonzero(situation.could_be_emptied | situation.is_empty)
    room = np.zeros((len(first), len(used)))
    np.add.at(room, group_of, capacity.astype(np.float64))
    largest = np.zeros((len(first), len(used)), dtype=np.int64)
    np.maximum.at(largest, group_of, capacity)
    return Relaxation(
        request=request,
        pods=pods,
        open_to=open_to,
        room=room,
        largest=largest,
        group_sizes=np.bincount(group_of, minlength=len(first)),
        node=node,
        group=group_of[node],
        capacity=capacity[node],
        price=situation.price[node],
        pods_on=np.where(situation.is_empty, 0, situation.pods_on)[node],
        namespaces=tuple((number[node], situation.limits.of(name)) for name, number in situation.namespaces_on.items()),
        most_evictions=situation.limits.in_all,
    )


def _groups(situation: Situation) -> tuple[IntArray, BoolArray]:
    """Group of each node, int64[N]: open to the same pods, and of one size; and the masks of pods, bool[C, N]."""
    problem = situation.problem
    _ = problem.mask_numbers  # hands all masks out
    openness = np.array(problem.masks, dtype=np.bool_).reshape(-1, situation.node_count)
    sizes = problem.columns.allocatable.T
    for looks in (np.hstack((openness.T.astype(np.int64), sizes)), openness.T.astype(np.int64)):
        if looks.shape[1]:
            group_of = np.unique(looks, axis=0, return_inverse=True)[1].reshape(-1)
            if group_of.max(initial=0) < _MOST_GROUPS:
                return group_of, openness
    return np.zeros(situation.node_count, dtype=np.int64), np.ones_like(openness)


def _shapes(amounts: IntArray, mask: IntArray, stays_in: IntArray, groups: int) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct requests with mask and home; on a coarser grid where those are too many."""
    rounded = amounts
    for grid in (1.0, _GRID, _GRID**2, _GRID**4):
        if grid > 1.0:
            steps = np.floor(np.log(np.maximum(1, amounts)) / np.log(grid) + 1e-12)
            rounded = np.minimum(amounts, np.where(amounts > 0, np.floor(grid**steps), 0).astype(np.int64))
        looks = np.hstack((rounded, mask[:, None], stays_in[:, None]))
        shapes, pods = np.unique(looks, axis=0, return_counts=True)
        if len(shapes) * groups <= _MOST_PAIRS:
            break
    return shapes[:, :-2], pods.astype(np.int64), shapes[:, -2:]
