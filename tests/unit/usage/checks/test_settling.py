"""Tests of nodes that a move touched."""

from __future__ import annotations

from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.settling import settling
from tests.builders import NOW
from tests.unit.usage.cases import evidence


def test_a_node_touched_within_the_window_settles() -> None:
    """For exactly one window; a move of our future counts as of now; others and unknown nodes are left alone."""
    touched = {"n0": NOW - 299, "n1": NOW - 300, "n2": NOW + 3, "elsewhere": NOW}
    found = settling(evidence(touched=touched), 300.0)
    assert {index: trust.state for index, trust in found.items()} == {0: TrustState.SETTLING, 2: TrustState.SETTLING}
    assert found[0].reason == "a move touched it 299s ago; it settles for 300s"
    assert set(settling(evidence(touched=touched), 600.0)) == {0, 1, 2}
    assert settling(evidence(), 300.0) == {}
