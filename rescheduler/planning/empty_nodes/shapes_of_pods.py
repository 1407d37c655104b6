"""Pods put together that ask for the same, or for the same proportions: few shapes, and none asks for too much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.model.usage import FloatArray

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
