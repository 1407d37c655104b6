"""Who sits where while nodes are drained, as flat sequences that compiled and plain loops read alike."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray

# A one-dimensional array or a list; mypy knows no type that both have.
Ints: TypeAlias = Any
Floats: TypeAlias = Any
Flags: TypeAlias = Any
RANDOM, AWAY, NOTED = 0, 1, 2
_JOURNAL = 200_000
_BAG = 4_000
_SPARE_PLACES = 3  # a node holds so many times more pods than the fullest did at first


class DrainSeats(NamedTuple):
    """Pods (P) of kinds (K) and classes (C) on nodes (N) with resources (R); two-dimensional ones by rows.

    ``free`` [N, R]: room as seated; ``request`` [K, R] and ``size`` [K] of one pod of a kind; ``weight`` [R];
    ``open_to`` [C, N]: nodes that a class may use; ``class_of`` [K]. ``kind``, ``apart`` (pods of one number never
    share a node; -1: none), ``home`` and ``node_of`` (-1: off) [P]. ``pods_at`` [N, places] with ``count`` [N] lists
    pods by node, each at ``place`` [P]. ``noted_pods``, ``noted_nodes``: journal of pods and their nodes before.
    ``state``: the random number, pods away from home, length of the journal. ``bag``, ``key``, ``chosen``: room to
    work in.
    """

    width: int
    nodes: int
    places: int
    free: Ints
    request: Ints
    size: Floats
    weight: Floats
    open_to: Flags
    class_of: Ints
    kind: Ints
    apart: Ints
    home: Ints
    node_of: Ints
    pods_at: Ints
    count: Ints
    place: Ints
    is_closed: Flags
    noted_pods: Ints
    noted_nodes: Ints
    state: Ints
    bag: Ints
    key: Floats
    chosen: Ints


class SeatedPods(NamedTuple):
    """What seats are made of.

    ``free`` and ``capacity`` int64[N, R], as the pods are seated and without any; ``request`` int64[P, R]; of each pod
    ``class_of``, ``apart``, ``home`` and ``node_of``, int64[P]; ``open_to`` bool[C, N]; ``is_closed`` bool[N].
    """

    free: IntArray
    capacity: IntArray
    request: IntArray
    class_of: IntArray
    open_to: BoolArray
    apart: IntArray
    home: IntArray
    node_of: IntArray
    is_closed: BoolArray


def seats_of(pods: SeatedPods, seed: int, *, is_compiled: bool) -> DrainSeats:
    """Seats as arrays for compiled loops, else as lists, which plain loops read faster."""
    looks = np.hstack((pods.request, pods.class_of[:, None]))
    kinds, kind = np.unique(looks, axis=0, return_inverse=True)
    request = kinds[:, :-1]
    weight = _weight(pods)
    count = np.bincount(pods.node_of, minlength=len(pods.free))
    places = int(count.max(initial=0)) * _SPARE_PLACES + 16
    pods_at, place = _by_node(pods.node_of, count, places)
    away = int((pods.node_of != pods.home).sum())
    found = DrainSeats(
        width=pods.request.shape[1],
        nodes=len(pods.free),
        places=places,
        free=pods.free.ravel().copy(),
        request=np.ascontiguousarray(request).ravel(),
        size=(request * weight).max(axis=1, initial=0.0),
        weight=weight,
        open_to=pods.open_to.ravel().copy(),
        class_of=kinds[:, -1].copy(),
        kind=kind.reshape(-1).astype(np.int64),
        apart=pods.apart.copy(),
        home=pods.home.copy(),
        node_of=pods.node_of.copy(),
        pods_at=pods_at,
        count=count.astype(np.int64),
        place=place,
        is_closed=pods.is_closed.copy(),
        noted_pods=np.zeros(_JOURNAL, dtype=np.int64),
        noted_nodes=np.zeros(_JOURNAL, dtype=np.int64),
        state=np.array([(seed * 7919 + 12345) & 0x7FFFFFFF, away, 0], dtype=np.int64),
        bag=np.zeros(_BAG, dtype=np.int64),
        key=np.zeros(_BAG),
        chosen=np.zeros(8, dtype=np.int64),
    )
    return found if is_compiled else as_lists(found)


def as_lists(seats: DrainSeats) -> DrainSeats:
    """For plain loops."""
    parts: list[Any] = [part.tolist() if isinstance(part, np.ndarray) else part for part in seats]
    return DrainSeats(*parts)


def as_arrays(seats: DrainSeats) -> DrainSeats:
    """For compiled loops; whole numbers are int64 in any case."""
    parts: list[Any] = [np.array(part) if isinstance(part, list) else part for part in seats]
    return DrainSeats(*parts)


def _weight(pods: SeatedPods) -> FloatArray:
    """One over the mean capacity of a node, resources that are used up more counting more."""
    capacity = np.maximum(1.0, pods.capacity.sum(axis=0))
    used = np.minimum(1.0, 1.0 - np.maximum(0, pods.free).sum(axis=0) / capacity)
    scarcity = np.maximum(used, 0.0) / max(float(used.max(initial=0.0)), 1e-9)
    weight: FloatArray = scarcity / (capacity / max(1, len(pods.capacity)))
    return weight


def _by_node(node_of: IntArray, count: IntArray, places: int) -> tuple[IntArray, IntArray]:
    """Lists of the pods on each node, int64[N * places], and each pod's position in its list, int64[P]."""
    order = np.argsort(node_of, kind="stable")
    begin = np.cumsum(count) - count
    place = np.empty(len(node_of), dtype=np.int64)
    place[order] = np.arange(len(node_of)) - begin[node_of[order]]
    pods_at = np.full(len(count) * places, -1, dtype=np.int64)
    pods_at[node_of * places + place] = np.arange(len(node_of))
    return pods_at, place
