"""The question with pods made divisible and rooms of like nodes put together: small, and no real plan is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.model.usage import FloatArray
from rescheduler.planning.empty_nodes.shapes_of_pods import Shapes, shapes_of_pods
from rescheduler.planning.empty_nodes.situation import Situation

_MOST_GROUPS = 240
_MOST_NODES_IN_DETAIL = 100


@dataclass(frozen=True)
class Relaxation:
    """Shapes (S) of pods, groups (G) of nodes, and nodes whose emptiness is to be chosen (C).

    ``shapes``: what pods ask for, and to which groups they are open. ``room``: float64[G, R], what the nodes of a group
    offer together; ``largest``: int64[G, R], the most that one of them offers; ``group_sizes``: int64[G]. ``node``:
    int64[C] with ``group``: int64[C], ``capacity``: int64[C, R], ``price``: float64[C] and ``pods_on``: int64[C], 0 for
    nodes that are empty already. ``namespaces``: rows of int64[C] with a limit each. ``most_evictions``: as said.
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


def relax(situation: Situation) -> Relaxation:
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
    )


def _openness(situation: Situation) -> BoolArray:
    """The nodes that each mask of pods is open to, bool[masks, N]."""
    problem = situation.problem
    _ = problem.mask_numbers  # hands all masks out
    return np.array(problem.masks, dtype=np.bool_).reshape(-1, situation.node_count)


def _groups(situation: Situation, openness: BoolArray) -> IntArray:
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


def _open_groups(situation: Situation, openness: BoolArray, group_of: IntArray) -> BoolArray:
    """The groups that each movable pod is open to, its own among them, bool[M, G]."""
    problem = situation.problem
    of_mask = np.zeros((len(openness), group_of.max(initial=0) + 1), dtype=np.bool_)
    for number, mask in enumerate(openness):
        of_mask[number, group_of[mask]] = True
    found: BoolArray = of_mask[problem.mask_numbers]
    found[np.arange(len(problem.movable)), group_of[problem.origin]] = True
    return found
