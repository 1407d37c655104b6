"""Tests of what a node's pods tell of it."""

from __future__ import annotations

import numpy as np

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.usage.collecting.pod_collecting import oldest_bound, pod_totals, sift_pods
from tests.builders import NOW, pod
from tests.unit.usage.cases import nan, nodes, pod_samples


def test_pods_are_summed_on_their_nodes() -> None:
    """Pods without a node, finished, unknown or without a sample add nothing; no known pod is no total, not 0."""
    pods = (pod("a-0", node="n0"), pod("a-1", node="n0"), pod("b-0", node="n1"), pod("c-0"),
            pod("d-0", node="n1", phase="Succeeded"), pod("e-0", node="elsewhere"))  # fmt: skip
    use = {("default", name): 100.0 for name in ("a-0", "a-1", "c-0", "d-0", "e-0", "stranger-0")}
    use["default", "b-0"] = nan
    totals = pod_totals(pod_samples(use, NOW), pods, nodes(3))
    assert np.array_equal(totals[0], [200.0, nan, nan], equal_nan=True)
    assert np.array_equal(totals[1] / 2**20, [128.0, 64.0, nan], equal_nan=True)


def test_values_that_cannot_be_are_dropped() -> None:
    """Counter resets and unsigned wraps; nothing uses more than 1.5 of the largest node."""
    names = [("default", f"p-{number}") for number in range(5)]
    given = pod_samples(dict(zip(names, [-513.0, 1.8e10, float("inf"), nan, 6000.0], strict=True)), NOW)
    sifted, dropped = sift_pods(given, nodes(2))
    assert np.array_equal(sifted.values[CPU], [nan, nan, nan, nan, 6000.0], equal_nan=True)
    assert np.isfinite(sifted.values[MEMORY]).all()
    assert dropped == 3


def test_without_capacities_anything_finite_goes() -> None:
    """There is nothing to compare with."""
    sifted, dropped = sift_pods(pod_samples({("default", "p-0"): 1e9}, NOW), ())
    assert (sifted.values[CPU].tolist(), dropped) == ([1e9], 0)


def test_the_first_bound_pod_of_each_node() -> None:
    """Finished ones do not count; no pods: infinity."""
    pods = (
        pod("a-0", node="n0", scheduled_at=NOW - 60),
        pod("a-1", node="n0", scheduled_at=NOW - 10),
        pod("b-0", node="n1", scheduled_at=None, started_at=None, created_at=None),
        pod("c-0", node="n2", phase="Failed"),
        pod("d-0"),
    )
    assert oldest_bound(pods, nodes(3)).tolist() == [NOW - 60, -np.inf, np.inf]
