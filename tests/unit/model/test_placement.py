"""A placement counts a moved pod at both ends until the wave ends."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns import NOWHERE, columns_of
from rescheduler.model.placement import Placement
from tests.builders import cluster, node, pod


def test_a_moved_pod_counts_at_both_ends_until_the_wave_settles() -> None:
    """Arrive before depart: room at the origin is free only once the wave has ended."""
    columns = columns_of(cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("a-2", node="n1")))
    placement = Placement(columns)
    before = placement.used.copy()
    first = columns.pod_index["default/a-1"]
    placement.move(first, 1)
    cpu = columns.resource_index["cpu"]
    assert placement.used[cpu].tolist() == [2000, 1000]
    placement.settle()
    assert placement.used[cpu].tolist() == [1000, 1000]
    placement.forget(first)
    assert placement.node_of[first] == NOWHERE
    placement.assume(first, 0)
    assert np.array_equal(placement.used, before)


def test_counts_follow_every_change() -> None:
    """Kept counts of pods by label set equal counts made afresh."""
    columns = columns_of(cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("b-1", node="n2"), pod("a-2")))
    placement = Placement(columns)
    mask = np.array([labels.get("app") == "a" for _, labels in columns.label_sets])
    assert placement.count("a", mask).tolist() == [1, 0]
    placement.assume(columns.pod_index["default/a-2"], 1)
    placement.move(columns.pod_index["default/a-1"], 1)
    assert placement.count("a", mask).tolist() == [1, 2]
    assert placement.copy().count("a", mask).tolist() == [1, 2]
    placement.settle()
    assert placement.count("a", mask).tolist() == [0, 2]
