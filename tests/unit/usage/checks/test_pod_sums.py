"""Tests of nodes that use less than their pods."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.pod_sums import pod_sums
from tests.unit.usage.cases import evidence, lively, nan, nodes, samples

GIB = 2.0**30


def totals(*cpu: float, memory: float = GIB) -> np.ndarray:
    """Millicores and bytes of each node's pods."""
    return np.array([cpu, [memory] * len(cpu)])


def test_a_node_that_uses_what_its_pods_use_passes() -> None:
    """30 % to 50 % of 4000m against 1600m."""
    assert pod_sums(evidence(pod_totals=totals(*[1600.0] * 5)), 300.0) == {}


def test_a_node_at_less_than_a_tenth_of_its_pods_is_implausible() -> None:
    """1 % of 4000m is 40m, while its pods use 2000m."""
    cpu = lively()
    cpu[-1, 3] = 0.01
    found = pod_sums(evidence(samples(cpu), pod_totals=totals(*[2000.0] * 5)), 300.0)
    assert {index: trust.state for index, trust in found.items()} == {3: TrustState.IMPLAUSIBLE}
    assert found[3].reason == ("uses less than a tenth of what its pods use together: cpu 1 % against 50 % of capacity")


def test_memory_is_compared_too() -> None:
    """0.5 % of 16 GiB against 2 GiB."""
    memory = lively(2, seed=1)
    memory[-1, 0] = 0.005
    found = pod_sums(evidence(samples(lively(2), memory), pod_totals=totals(100.0, 100.0, memory=2 * GIB)), 300.0)
    assert set(found) == {0}
    assert "memory 0.5 % against 12.5 %" in found[0].reason


def test_what_is_unknown_contradicts_nothing() -> None:
    """Pods without a sample, a node without one, a node without capacity, and next to no use."""
    assert pod_sums(evidence(), 300.0) == {}
    assert pod_sums(evidence(pod_totals=np.full((2, 5), nan)), 300.0) == {}
    cpu = lively(2)
    cpu[:] = nan
    assert pod_sums(evidence(samples(cpu), pod_totals=totals(4000.0, 4000.0)), 300.0) == {}
    cpu[:] = 0.001
    bare = tuple(type(node)(name=node.name) for node in nodes(2))
    assert pod_sums(evidence(samples(cpu), nodes=bare, pod_totals=totals(4000.0, 4000.0)), 300.0) == {}
    assert pod_sums(evidence(samples(cpu), pod_totals=totals(79.0, 79.0)), 300.0) == {}
