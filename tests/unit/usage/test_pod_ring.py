"""The ring of the pods' samples."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan

import numpy as np
import pytest

from rescheduler.model.pod import Pod
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import PodKey, PodSamples
from rescheduler.usage import pod_ring
from rescheduler.usage.pod_ring import PodRing
from tests.builders import NOW, pod

WINDOWS = (300.0, 900.0)


def samples(at: float, use: Mapping[str, tuple[float, float]]) -> PodSamples:
    """Millicores and bytes by pod of the namespace default."""
    rows = np.array(list(use.values()), dtype=float).reshape(-1, 2).T
    keys = tuple(PodKey("default", name) for name in use)
    return PodSamples(keys, {CPU: rows[0], MEMORY: rows[1]}, np.full(len(keys), at))


def old_pod(name: str, namespace: str = "default", created_at: float = NOW - 86400) -> Pod:
    """A pod made long ago."""
    return pod(name, namespace=namespace, created_at=created_at)


def test_averages_over_each_window() -> None:
    """Aligned with the pods asked for; unknown ones are NaN."""
    ring = PodRing(WINDOWS, 60.0)
    for at, cpu in enumerate((100.0, 200.0, 600.0)):
        ring.append(samples(NOW + 240 * at, {"a": (cpu, 2.0**20)}), NOW + 240 * at)
    found = ring.use([old_pod("z"), old_pod("a"), old_pod("a", "elsewhere")], WINDOWS, NOW + 480)
    np.testing.assert_array_equal(found[300.0].average[CPU], [nan, 400, nan])
    np.testing.assert_array_equal(found[900.0].average[CPU], [nan, 300, nan])
    np.testing.assert_array_equal(found[900.0].average[MEMORY], [nan, 2.0**20, nan])
    np.testing.assert_array_equal(found[300.0].measured_at, [nan, NOW + 480, nan])
    assert found[900.0].count.tolist() == [0, 3, 0]


def test_a_metric_that_is_missing_is_not_0() -> None:
    """The other metric of the same sample counts."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"a": (100, nan)}), NOW)
    found = ring.use([old_pod("a")], WINDOWS, NOW)[300.0]
    assert found.average[CPU].tolist() == [100]
    assert np.isnan(found.average[MEMORY]).all()


def test_an_earlier_pod_of_the_same_name_does_not_count() -> None:
    """A StatefulSet's pod keeps its name when it is made anew."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"web-0": (900, 1)}), NOW)
    ring.append(samples(NOW + 60, {"web-0": (100, 1)}), NOW + 60)
    found = ring.use([old_pod("web-0", created_at=NOW + 30)], WINDOWS, NOW + 60)
    assert found[900.0].average[CPU].tolist() == [100]


def test_old_samples_leave_the_window() -> None:
    """The last high value is not kept for ever."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"a": (900, 1)}), NOW)
    assert np.isnan(ring.use([old_pod("a")], WINDOWS, NOW + 300)[300.0].average[CPU]).all()
    assert ring.use([old_pod("a")], WINDOWS, NOW + 300)[900.0].average[CPU].tolist() == [900]


def test_the_age_is_that_of_the_sample_measured_last() -> None:
    """Though an older one came after it."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"a": (900, 1)}), NOW)
    ring.append(samples(NOW - 30, {"a": (100, 1)}), NOW + 60)
    found = ring.use([old_pod("a")], WINDOWS, NOW + 60)[300.0]
    assert (found.measured_at.tolist(), found.average[CPU].tolist()) == ([NOW], [500])


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_many_pods_are_worked_out_in_parts(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Each keeps its own figures, wherever the parts end."""
    monkeypatch.setattr(pod_ring, "_AT_ONCE", at_once)
    ring = PodRing(WINDOWS, 60.0)
    names = [f"p{number}" for number in range(5)]
    ring.append(samples(NOW, {name: (number, 10 * number) for number, name in enumerate(names)}), NOW)
    found = ring.use([old_pod(name) for name in [*names[::-1], "z"]], WINDOWS, NOW)[300.0]
    np.testing.assert_array_equal(found.average[CPU], [4, 3, 2, 1, 0, nan])
    np.testing.assert_array_equal(found.average[MEMORY], [40, 30, 20, 10, 0, nan])
    np.testing.assert_array_equal(found.measured_at, [NOW] * 5 + [nan])
    assert found.count.tolist() == [1] * 5 + [0]


def test_more_pods_than_the_limit_are_unknown() -> None:
    """Those gone make room first."""
    ring = PodRing(WINDOWS, 60.0, limit=2)
    ring.append(samples(NOW, {"a": (1, 1), "b": (2, 1)}), NOW)
    ring.append(samples(NOW + 60, {"b": (3, 1), "c": (4, 1), "d": (5, 1)}), NOW + 60)
    found = ring.use([old_pod(name) for name in "abcd"], WINDOWS, NOW + 60)[900.0]
    np.testing.assert_array_equal(found.average[CPU], [nan, 2.5, 4, nan])


def test_nothing_sampled_is_nothing_known() -> None:
    """No pods, no metrics, no samples."""
    ring = PodRing(WINDOWS, 60.0)
    assert np.isnan(ring.use([old_pod("a")], WINDOWS, NOW)[300.0].average[CPU]).all()
    ring.append(PodSamples((), {}, np.zeros(0)), NOW)
    ring.append(PodSamples((PodKey("default", "a"),), {}, np.array([NOW])), NOW)
    assert ring.use([old_pod("a")], WINDOWS, NOW)[300.0].count.tolist() == [0]
    assert ring.use([], WINDOWS, NOW)[300.0].average[CPU].tolist() == []
