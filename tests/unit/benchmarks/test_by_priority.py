"""Tests of packing pods by priority."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.packing.by_priority import pack_by_priority
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, drainage_of
from rescheduler.planning.problem.deadline import Deadline
from tests.clocks import FakeClock


@st.composite
def instances(draw: st.DrawFn) -> tuple[Drainage, np.ndarray]:
    """Two or three nodes, up to five pods of up to three priorities, some of them waiting."""
    nodes, pods = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    pair = st.tuples(st.integers(0, 5), st.integers(0, 5))
    request = np.array(draw(st.lists(pair, min_size=pods, max_size=pods)), dtype=np.int64)
    capacity = np.array(draw(st.lists(pair, min_size=nodes, max_size=nodes)), dtype=np.int64)
    home = np.array(draw(st.lists(st.integers(NOWHERE, nodes - 1), min_size=pods, max_size=pods)), dtype=np.int64)
    for node in range(nodes):  # what runs has room where it runs
        capacity[node] = np.maximum(capacity[node], request[home == node].sum(axis=0))
    priority = np.array(draw(st.lists(st.integers(0, 2), min_size=pods, max_size=pods)), dtype=np.int64)
    return drainage_of(capacity, request, home), priority


def counts(node_of: np.ndarray, priority: np.ndarray) -> tuple[int, ...]:
    """Pods with a place by priority, the highest first."""
    levels = sorted(set(priority.tolist()), reverse=True)
    return tuple(int(((node_of != NOWHERE) & (priority == level)).sum()) for level in levels)


def has_room(drainage: Drainage, node_of: np.ndarray) -> bool:
    """Whether no node is too full."""
    free = drainage.capacity.copy()
    placed = np.flatnonzero(node_of != NOWHERE)
    np.subtract.at(free, node_of[placed], drainage.request[placed])
    return bool((free >= 0).all())


def best_by_trying(drainage: Drainage, priority: np.ndarray) -> tuple[int, ...]:
    """The best counts of all placements."""
    answers = product(range(NOWHERE, drainage.node_count), repeat=len(drainage.home))
    return max(counts(node_of, priority) for node_of in map(np.array, answers) if has_room(drainage, node_of))


@settings(max_examples=60)
@given(instances())
def test_places_as_many_as_trying_everything_does(instance):
    """The counts by priority are the best there are, the bounds say so, and everything fits."""
    drainage, priority = instance
    packing = pack_by_priority(drainage, priority, Deadline(FakeClock(), 5.0), seed=0)
    assert has_room(drainage, packing.node_of)
    assert packing.placed == counts(packing.node_of, priority) == best_by_trying(drainage, priority)
    assert packing.bounds == packing.placed


def test_lower_priority_makes_way():
    """A running pod of low priority loses its place to a waiting one of high priority."""
    drainage = drainage_of(np.array([[4]]), np.array([[3], [3]]), np.array([0, NOWHERE]))
    packing = pack_by_priority(drainage, np.array([0, 9]), Deadline(FakeClock(), 5.0), seed=0)
    assert packing.node_of.tolist() == [NOWHERE, 0]


def test_nobody_moves_without_need():
    """Pods that can stay where they are do."""
    drainage = drainage_of(np.full((4, 1), 10), np.full((8, 1), 3), np.array([0, 0, 1, 1, 2, 2, 3, NOWHERE]))
    packing = pack_by_priority(drainage, np.zeros(8, dtype=np.int64), Deadline(FakeClock(), 5.0), seed=0)
    assert packing.node_of[:7].tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert packing.placed == (8,)
