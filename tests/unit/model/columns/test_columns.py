"""Domains: which nodes share a value of a topology key."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.columns import Domains
from tests.builders import node

DOMAINS = Domains(
    [node("n1", labels={"rack": "b"}), node("n2"), node("n3", labels={"rack": "a"}), node("n4", labels={"rack": "b"})]
)


def test_values_are_numbered_in_order_and_absent_ones_are_nowhere() -> None:
    """An unknown key leaves every node without a domain."""
    codes, values = DOMAINS.of("rack")
    assert (codes.tolist(), values) == ([1, -1, 0, 1], ("a", "b"))
    codes, values = DOMAINS.of("unknown")
    assert (codes.tolist(), values) == ([-1] * 4, ())


def test_reach_is_through_shared_values_only() -> None:
    """Nodes without the key share nothing, not even with each other."""
    assert DOMAINS.reach("rack", np.array([0, 1], dtype=np.int32)).tolist() == [True, False, False, True]
    assert DOMAINS.reach("rack", np.array([1], dtype=np.int32)).tolist() == [False] * 4
    assert DOMAINS.reach("unknown", np.array([0, 1, 2, 3], dtype=np.int32)).tolist() == [False] * 4
    assert DOMAINS.reach("rack", np.zeros(0, dtype=np.int32)).tolist() == [False] * 4


def test_totals_count_every_entry_of_a_domain_with_its_weight() -> None:
    """A node that is given twice counts twice."""
    nodes = np.array([0, 0, 3, 1, 2], dtype=np.int32)
    assert DOMAINS.totals("rack", nodes).tolist() == [3, 0, 1, 3]
    assert DOMAINS.totals("rack", nodes, -5).tolist() == [-15, 0, -5, -15]
