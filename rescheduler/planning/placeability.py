"""Which movable pods would find a place on another node as things stand."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.planning.fitting import fits
from rescheduler.planning.problem import Problem

ROOMIEST = 24
_CHUNK = 4096


def placeable_rows(problem: Problem, room: IntArray) -> BoolArray:
    """Movable pods, bool[M], for which some node but their own has room (int64[R, N]) and passes the static filters.

    Pods alike in request and mask are looked at once, against the roomiest nodes first.
    """
    answer = np.zeros(len(problem.movable), dtype=np.bool_)
    numbers = problem.mask_numbers
    for number in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == number)
        mask = problem.masks[number]
        answer[rows] = _placeable(problem, room, rows, mask)
    return answer


def _placeable(problem: Problem, room: IntArray, rows: IntArray, mask: BoolArray) -> BoolArray:
    nodes = np.flatnonzero(mask)
    shapes = problem.columns.shape_of[problem.movable[rows]]
    _, first, class_of = np.unique(shapes, return_index=True, return_inverse=True)
    requests = problem.requests[:, rows[first]]
    sample = _roomiest(room, nodes)
    hits = np.concatenate(
        [_hits(requests[:, start : start + _CHUNK], room[:, sample]) for start in range(0, requests.shape[1], _CHUNK)]
    )
    answer: BoolArray = (hits >= 2)[class_of]  # one of the two is not its own node
    for number in np.flatnonzero(hits < 2).tolist():
        open_nodes = nodes[fits(requests[:, number], room[:, nodes])]
        members = np.flatnonzero(class_of == number)
        if len(open_nodes) == 1:
            answer[members] = problem.origin[rows[members]] != open_nodes[0]
        else:
            answer[members] = len(open_nodes) > 1
    return answer


def _hits(requests: IntArray, room: IntArray) -> IntArray:
    """On how many of a few nodes each request fits, int64[classes]."""
    fitting = (requests[:, :, None] <= room[:, None, :]) | (requests[:, :, None] == 0)
    return np.asarray(fitting.all(axis=0).sum(axis=1))


def _roomiest(room: IntArray, nodes: IntArray) -> IntArray:
    """A few nodes with the most room: in each resource, and in all of them together."""
    if len(nodes) <= ROOMIEST:
        return nodes
    inside = room[:, nodes]
    shares = inside / np.maximum(1, inside.max(axis=1, initial=1))[:, None]
    picks = [np.argsort(-shares.min(axis=0), kind="stable")[: ROOMIEST // 2]]
    picks += [np.argsort(-share, kind="stable")[: ROOMIEST // 6] for share in shares[:3]]
    return nodes[np.unique(np.concatenate(picks))]
