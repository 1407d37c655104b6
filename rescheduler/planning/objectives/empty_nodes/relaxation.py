"""The question with pods made divisible and rooms of like nodes put together: small, and no real plan is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation

# Pods put together that ask for the same, or for the same proportions: few shapes, and none asks for too much.

_MOST_PAIRS = 20_000
_GRIDS = (1.02, 1.05, 1.1, 1.2, 1.5)
_SCARCE = 0.6
_COARSE = 3  # resources that are plentiful get a grid so many times coarser
_SMALLEST = 1e-3


class Shapes(NamedTuple):
    """``request``: float64[S, R] of one unit; ``units``: float64[S]; ``open_to``: bool[S, G].

    ``are_pods``: a unit is a pod; else pods of like proportions are one stream, and only sums mean something.
    """

    request: FloatArray
    units: FloatArray
    open_to: BoolArray
    are_pods: bool


def shapes_of_pods(amounts: IntArray, open_to: BoolArray, largest: IntArray, room: FloatArray) -> Shapes:
    """Shapes of pods (int64[P, R], bool[P, G]) for groups that offer ``largest`` (int64[G, R]) on one node."""
    kinds, kind_of = np.unique(
        np.hstack((amounts, np.packbits(open_to, axis=1).astype(np.int64))), axis=0, return_inverse=True
    )
    first = np.unique(kind_of, return_index=True)[1]
    request, count = amounts[first], np.bincount(kind_of.reshape(-1))
    open_here = open_to[first] & (request[:, None, :] <= largest[None]).all(axis=2)
    if len(kinds) * len(largest) <= _MOST_PAIRS:
        return Shapes(request.astype(np.float64), count.astype(np.float64), open_here, are_pods=True)
    return _streams(request, count, open_here, room)


def _streams(request: IntArray, count: IntArray, open_to: BoolArray, room: FloatArray) -> Shapes:
    """Proportions on a grid, rounded down but for the resource of which a pod asks the largest share."""
    whole = np.maximum(1.0, room.sum(axis=0))
    share = request / whole
    size = share.max(axis=1)
    is_scarce = (share * count[:, None]).sum(axis=0) > _SCARCE * (share * count[:, None]).sum(axis=0).max(initial=0.0)
    proportions = share / np.maximum(size, 1e-300)[:, None]
    for grid in _GRIDS:
        step = np.log(np.where(is_scarce, grid, grid**_COARSE))
        bucket = np.floor(np.log(np.maximum(proportions, _SMALLEST)) / step + 1e-9)
        rounded = np.where(proportions >= _SMALLEST, np.minimum(np.exp(bucket * step), proportions), 0.0)
        looks = np.hstack((np.round(bucket), np.packbits(open_to, axis=1)))
        _, first, stream = np.unique(looks, axis=0, return_index=True, return_inverse=True)
        if len(first) * open_to.shape[1] <= _MOST_PAIRS:
            break
    stream = stream.reshape(-1)
    least = np.full((len(first), request.shape[1]), np.inf)
    np.minimum.at(least, stream, rounded)
    units: FloatArray = np.bincount(stream, weights=size * count).astype(np.float64)
    request_of_one: FloatArray = (least * whole).astype(np.float64)
    return Shapes(request_of_one, units, open_to[first], are_pods=False)


_MOST_GROUPS = 240
_MOST_NODES_IN_DETAIL = 100


@dataclass(frozen=True)
class Relaxation:
    """Shapes (S) of pods, groups (G) of nodes, and nodes whose emptiness is to be chosen (C).

    ``shapes``: what pods ask for, and to which groups they are open. ``room``: float64[G, R], what the nodes of a group
    offer together; ``largest``: int64[G, R], the most that one of them offers; ``group_sizes``: int64[G]. ``node``:
    int64[C] with ``group``: int64[C], ``capacity``: int64[C, R], ``price``: float64[C] and ``pods_on``: int64[C], 0 for
    nodes that are empty already. ``namespaces``: rows of int64[C] with a limit each. ``most_evictions``, and
    ``most_nodes`` emptied: as said.
    """

    shapes: Shapes
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
    most_nodes: int


def relax(situation: EmptyingSituation) -> Relaxation:
    """State the relaxation; amounts that pods hold where they are and ask for elsewhere count with the lesser."""
    problem = situation.problem
    amounts = np.minimum(problem.requests, problem.held).T
    capacity = np.maximum(problem.free, 0).T.copy()
    np.add.at(capacity, problem.origin, problem.held.T)
    used = np.flatnonzero(amounts.any(axis=0))
    amounts, capacity = amounts[:, used], capacity[:, used]
    openness = _openness(situation)
    group_of = _groups(situation, openness)
    sizes = np.bincount(group_of)
    room = np.zeros((len(sizes), len(used)))
    np.add.at(room, group_of, capacity.astype(np.float64))
    largest = np.zeros((len(sizes), len(used)), dtype=np.int64)
    np.maximum.at(largest, group_of, capacity)
    node = np.flatnonzero(situation.could_be_emptied | situation.is_empty)
    return Relaxation(
        shapes=shapes_of_pods(amounts, _open_groups(situation, openness, group_of), largest, room),
        room=room,
        largest=largest,
        group_sizes=sizes,
        node=node,
        group=group_of[node],
        capacity=capacity[node],
        price=situation.price[node],
        pods_on=np.where(situation.is_empty, 0, situation.pods_on)[node],
        namespaces=tuple((number[node], situation.limits.of(name)) for name, number in situation.namespaces_on.items()),
        most_evictions=situation.limits.in_all,
        most_nodes=situation.most_nodes,
    )


def _openness(situation: EmptyingSituation) -> BoolArray:
    """The nodes that each mask of pods is open to, bool[masks, N]."""
    problem = situation.problem
    _ = problem.mask_numbers  # hands all masks out
    return np.array(problem.masks, dtype=np.bool_).reshape(-1, situation.node_count)


def _groups(situation: EmptyingSituation, openness: BoolArray) -> IntArray:
    """Group of each node, int64[N]: open to the same pods and, in small clusters, of one size."""
    by_openness = openness.T.astype(np.int64)
    candidates = [by_openness]
    if situation.node_count <= _MOST_NODES_IN_DETAIL:
        candidates.insert(0, np.hstack((by_openness, situation.problem.columns.allocatable.T)))
    for looks in candidates:
        if looks.shape[1]:
            group_of: IntArray = np.unique(looks, axis=0, return_inverse=True)[1].reshape(-1)
            if group_of.max(initial=0) < _MOST_GROUPS:
                return group_of
    return np.zeros(situation.node_count, dtype=np.int64)


def _open_groups(situation: EmptyingSituation, openness: BoolArray, group_of: IntArray) -> BoolArray:
    """The groups that each movable pod is open to, its own among them, bool[M, G]."""
    problem = situation.problem
    of_mask = np.zeros((len(openness), group_of.max(initial=0) + 1), dtype=np.bool_)
    for number, mask in enumerate(openness):
        of_mask[number, group_of[mask]] = True
    found: BoolArray = of_mask[problem.mask_numbers]
    found[np.arange(len(problem.movable)), group_of[problem.origin]] = True
    return found
