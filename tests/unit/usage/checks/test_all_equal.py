"""Tests of many nodes with one value."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.usage.checks.all_equal import all_equal
from tests.builders import NOW
from tests.unit.usage.cases import lively, nan, samples


@pytest.mark.parametrize(
    ("count", "alike", "is_found"),
    [(10, 5, False), (10, 6, True), (5, 3, True), (4, 2, False), (4, 3, True), (3, 2, False), (3, 3, True),
     (2, 2, True), (1, 1, False)],
)  # fmt: skip
def test_more_than_half_of_the_nodes_must_not_show_the_same(count: int, alike: int, is_found: bool) -> None:
    """At least three of them, or all of a smaller cluster."""
    cpu = lively(count)
    cpu[-1, :alike] = 0.42
    found = list(all_equal(samples(cpu)))
    assert [freeze.at for freeze in found] == ([NOW] if is_found else [])
    if is_found:
        assert found[0].reason == f"{alike} of {count} nodes showed the same cpu of 42 %"


def test_missing_values_are_not_alike() -> None:
    """NaN equals nothing, and nodes without a value do not count."""
    cpu = np.full((3, 6), nan)
    assert list(all_equal(samples(cpu, cpu))) == []


def test_what_earlier_passes_have_seen_is_left_out() -> None:
    """``after``."""
    cpu = lively()
    cpu[-3:] = 0.4
    assert len(list(all_equal(samples(cpu)))) == 3
    assert [freeze.at for freeze in all_equal(samples(cpu), NOW - 15)] == [NOW]
    assert list(all_equal(samples(cpu), NOW)) == []
