"""Tests of a whole cluster that falls."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.usage.checks.evidence import capacities
from rescheduler.usage.checks.sudden_drop import sudden_drop
from tests.builders import NOW, node
from tests.unit.usage.cases import lively, nan, nodes, samples


@pytest.mark.parametrize(("factor", "is_found"), [(0.71, False), (0.69, True), (0.5, True), (0.0, True), (2.0, False)])
def test_a_fall_by_more_than_the_bound_is_found(factor: float, is_found: bool) -> None:
    """From one sample to the next, of all nodes together; a rise is none."""
    cpu = np.full((4, 5), 0.4)
    cpu[-1] *= factor
    found = list(sudden_drop(samples(cpu, lively(5, 4)), capacities(nodes()), 0.3, 15.0))
    assert [freeze.at for freeze in found if "cpu" in freeze.reason] == ([NOW] if is_found else [])


def test_the_reason_says_how_far() -> None:
    """And the bound."""
    cpu = np.array([[0.4, 0.4], [0.1, 0.1]])
    (freeze,) = sudden_drop(samples(cpu, np.full((2, 2), 0.3)), capacities(nodes(2)), 0.3, 15.0)
    assert freeze.reason == "cpu of the whole cluster fell by 75 % between two samples, more than 30 %"


def test_nodes_that_vanish_are_no_fall() -> None:
    """Only nodes known before and after are compared; the others are a matter of coverage."""
    cpu = np.full((2, 4), 0.4)
    cpu[1, :3] = nan
    # A node without a value keeps its last one here, so that nothing falls.
    assert list(sudden_drop(samples(cpu, np.full((2, 4), 0.3)), capacities(nodes(4)), 0.3, 15.0)) == []
    cpu[0, 3] = nan
    assert list(sudden_drop(samples(cpu, np.full((2, 4), 0.3)), capacities(nodes(4)), 0.3, 15.0)) == []


def test_large_nodes_count_for_more() -> None:
    """By what they offer."""
    cpu = np.array([[0.5, 0.5], [0.5, 0.0]])
    pair = capacities([node("n0", cpu="60"), node("n1", cpu="4")])
    memory = np.full((2, 2), 0.3)
    assert list(sudden_drop(samples(cpu, memory), pair, 0.3, 15.0)) == []
    assert len(list(sudden_drop(samples(cpu[:, ::-1], memory), pair, 0.3, 15.0))) == 1


def test_scrapes_spread_over_a_minute_fall_bit_by_bit() -> None:
    """Each tick shows a quarter of the nodes anew; the fall is seen over the whole scrape."""
    cpu = np.full((12, 4), nan)
    for row in range(12):
        cpu[row, row % 4] = 0.4 if row < 8 else 0.2
    found = list(sudden_drop(samples(cpu, np.full((12, 4), 0.3)), capacities(nodes(4)), 0.3, 60.0))
    assert found
    assert found[0].at == NOW - 15.0


def test_what_lies_far_apart_is_not_compared() -> None:
    """After an outage of an hour the cluster may well be another."""
    times = np.array([NOW - 3600, NOW])
    cpu = np.array([[0.4, 0.4], [0.1, 0.1]])
    assert list(sudden_drop(samples(cpu, cpu, times=times), capacities(nodes(2)), 0.3, 15.0)) == []


def test_empty_samples_have_no_fall() -> None:
    """No rows at all."""
    assert list(sudden_drop(samples(np.zeros((0, 2)), np.zeros((0, 2))), capacities(nodes(2)), 0.3, 15.0)) == []
