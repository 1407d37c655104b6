"""Tests of how much of the cluster must be known."""

from __future__ import annotations

import numpy as np

from rescheduler.usage.checks.coverage import coverage_freeze, has_failed
from tests.builders import node
from tests.unit.usage.cases import nodes


def known(count: int, total: int = 10) -> np.ndarray:
    """The first ``count`` of the nodes."""
    return np.arange(total) < count


def test_nine_of_ten_nodes_are_enough() -> None:
    """Eight are not, and the reason counts."""
    assert coverage_freeze(nodes(10), known(9), 0.9) == ""
    assert coverage_freeze(nodes(10), known(8), 0.9) == (
        "only 8 of 10 nodes, with 80 % of the allocatable cpu, have valid samples; wanted 90 %"
    )


def test_the_nodes_with_the_cpu_must_be_among_them() -> None:
    """19 small nodes are not 90 % of a cluster with one large one."""
    mixed = (*nodes(19), node("n-large", cpu="96"))
    assert "44 % of the allocatable cpu" in coverage_freeze(mixed, known(19, 20), 0.9)


def test_virtual_and_unusable_nodes_do_not_count() -> None:
    """Nobody measures them, and nobody moves to them."""
    virtual = node("virtual", labels={"type": "virtual-kubelet"})
    broken = node("broken", problem="no allocatable")
    assert coverage_freeze((*nodes(3), virtual, broken), known(3, 5), 0.9) == ""


def test_no_nodes_are_no_coverage() -> None:
    """Rather than a division by zero."""
    assert coverage_freeze((), known(0, 0), 0.9) == "there are no nodes to judge"
    assert coverage_freeze((type(node("x"))(name="bare"),), known(1, 1), 0.9) == ""


def test_the_provider_has_failed_where_more_than_half_is_unknown() -> None:
    """Of the schedulable nodes; exactly half is not more."""
    assert not has_failed(nodes(4), known(2, 4))
    assert has_failed(nodes(4), known(1, 4))
    closed = tuple(node(f"c{number}", is_unschedulable=True) for number in range(6))
    assert not has_failed((*nodes(4), *closed), known(4))
    assert has_failed(closed, known(0, 6))
