"""The problem of emptying nodes as arrays: pods, where they are, and what each node offers them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Drainage:
    """Pods that may move, and nodes that may take them or be emptied.

    ``capacity``: int64[N, R], what each node offers these pods together (the room of what never moves is taken off).
    ``request``: int64[P, R]. ``home``: int64[P], where each pod is (NOWHERE: it waits). ``class_of``: int64[P] and
    ``open_to``: bool[C, N], the nodes that a class of pods may use at all. ``can_be_emptied``: bool[N].
    """

    capacity: IntArray
    request: IntArray
    home: IntArray
    class_of: IntArray
    open_to: BoolArray
    can_be_emptied: BoolArray

    @property
    def node_count(self) -> int:
        """N."""
        return len(self.capacity)

    @property
    def pods_on(self) -> IntArray:
        """Pods on each node, int64[N]."""
        return np.bincount(self.home[self.home >= 0], minlength=self.node_count)

    @cached_property
    def kind_of(self) -> IntArray:
        """Pods of one number ask for the same and may use the same nodes, int64[P]."""
        looks = np.hstack((self.request, self.class_of[:, None]))
        kinds: IntArray = np.unique(looks, axis=0, return_inverse=True)[1].reshape(-1)
        return kinds


def drainage_of(capacity: IntArray, request: IntArray, home: IntArray) -> Drainage:
    """A problem of resources alone: every pod may use every node, every node may be emptied."""
    pods, nodes = len(request), len(capacity)
    return Drainage(
        capacity,
        request,
        home,
        np.zeros(pods, dtype=np.int64),
        np.ones((1, nodes), dtype=np.bool_),
        np.ones(nodes, dtype=np.bool_),
    )


def how_often(request: IntArray, capacity: IntArray) -> IntArray:
    """How often each request (int64[S, R]) fits into each capacity (int64[T, R]) alone, int64[S, T].

    One that asks for nothing has no limit; nothing fits into negative room.
    """
    often = np.full((len(request), len(capacity)), np.iinfo(np.int32).max, dtype=np.int64)
    for asked, offered in zip(request.T, capacity.clip(min=0).T, strict=True):
        is_asked = asked > 0
        often[is_asked] = np.minimum(often[is_asked], offered[None, :] // asked[is_asked, None])
    return often
