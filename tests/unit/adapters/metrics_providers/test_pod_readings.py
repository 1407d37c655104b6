"""PodReadings: the sum over the containers that still report."""

from __future__ import annotations

import math

import numpy as np

from rescheduler.adapters.metrics_providers.pod_readings import PodReadings
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import PodKey
from tests.builders import NOW

WEB = PodKey("shop", "web")


def test_containers_are_summed_and_the_oldest_time_counts() -> None:
    """By metric, with the newest reading of each container."""
    found = PodReadings()
    found.add(CPU, WEB, NOW - 20, 900.0, container="a")
    found.add(CPU, WEB, NOW - 5, 100.0, container="a")
    found.add(CPU, WEB, NOW, 50.0, container="b")
    found.add(MEMORY, WEB, NOW, 7.0, container="b")
    samples = found.samples()
    assert samples.pods == (WEB,)
    assert samples.values[CPU].tolist() == [150.0]
    assert samples.values[MEMORY].tolist() == [7.0]
    assert samples.measured_at.tolist() == [NOW - 5]


def test_a_container_without_a_number_makes_the_pod_unknown() -> None:
    """A sum of the others would be too small."""
    found = PodReadings()
    found.add(CPU, WEB, NOW, math.nan, container="a")
    found.add(CPU, WEB, NOW, 50.0, container="b")
    assert np.isnan(found.samples().values[CPU]).all()


def test_a_metric_nobody_reported_is_unknown() -> None:
    """Not 0; and nameless pods are no pods."""
    found = PodReadings()
    found.add(CPU, WEB, NOW, 1.0)
    found.add(CPU, PodKey("", "x"), NOW, 1.0)
    found.add(CPU, PodKey("x", ""), NOW, 1.0)
    samples = found.samples()
    assert samples.pods == (WEB,)
    assert np.isnan(samples.values[MEMORY]).all()


def test_no_pod_at_all() -> None:
    """Empty arrays of the right kind."""
    samples = PodReadings().samples()
    assert samples.pods == ()
    assert samples.values[CPU].shape == samples.measured_at.shape == (0,)
